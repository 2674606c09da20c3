import type { AdminLogger } from "../../../lib/admin/router/options";
import type { KeyInput } from "../../../lib/admin/client/key";
import type { Receiver } from "../../../lib/admin/client/webhook";
import type { WebhookChange } from "../../../lib/admin/client/webhook";
import { expectTypeOf } from "expect-type";
import type { z } from "zod";
import { pushWebhooks, type Logger, type PushEventType } from "express-push-verification";
import type {
  CreatedKey,
  Key,
  Webhook,
  WebhookEventType,
  WebhookInput,
} from "express-push-verification/admin";
import type {
  keyInputSchema,
  webhookChangeSchema,
  webhookInputSchema,
} from "../../../lib/admin/client/schemas";
import type { BODY_SCHEMAS } from "../../../lib/admin/router/body-schemas";

/** A type with read-only members and lists, as the exported interfaces have them. */
type Frozen<Type> = Type extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Type extends object
    ? { readonly [Name in keyof Type]: Frozen<Type[Name]> }
    : Type;
type Output<Schema extends z.ZodType> = Frozen<z.output<Schema>>;
type Input<Schema extends z.ZodType> = Frozen<z.input<Schema>>;

describe("the interfaces of resources, checked by the compiler", () => {
  it("equal the schemas that responses are checked with", () => {
    expectTypeOf<Key>().toEqualTypeOf<Output<typeof BODY_SCHEMAS.Key>>();
    expectTypeOf<CreatedKey>().toEqualTypeOf<Output<typeof BODY_SCHEMAS.CreatedKey>>();
    expectTypeOf<Webhook>().toEqualTypeOf<Output<typeof BODY_SCHEMAS.Webhook>>();
  });

  it("equal the schemas that arguments are checked with", () => {
    expectTypeOf<KeyInput>().toEqualTypeOf<Input<typeof keyInputSchema>>();
    expectTypeOf<WebhookInput>().toEqualTypeOf<Input<typeof webhookInputSchema>>();
    expectTypeOf<WebhookChange>().toEqualTypeOf<Input<typeof webhookChangeSchema>>();
  });

  it("equal the types of the root that they stand in for", () => {
    expectTypeOf<WebhookEventType>().toEqualTypeOf<PushEventType | "*">();
    expectTypeOf<AdminLogger>().toEqualTypeOf<Logger>();
    expectTypeOf(pushWebhooks).returns.toExtend<Receiver>();
  });
});
