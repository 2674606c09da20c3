import { expectTypeOf } from "expect-type";
import type { z } from "zod";
import { pushWebhooks, type Logger, type PushEventType } from "express-push-verification";
import type {
  AdminClient,
  AdminLogger,
  AuditEntry,
  CreatedKey,
  Finding,
  Key,
  KeyInput,
  Page,
  Receiver,
  Webhook,
  WebhookChange,
  WebhookEventType,
  WebhookInput,
} from "express-push-verification/admin";
import type {
  keyInputSchema,
  webhookChangeSchema,
  webhookInputSchema,
} from "../../../lib/admin/client/schemas";
import { BODY_SCHEMAS } from "../../../lib/admin/router/body-schemas";

/** A type with read-only members and lists, as the exported interfaces have them. */
type Frozen<Type> = Type extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Type extends object
    ? { readonly [Name in keyof Type]: Frozen<Type[Name]> }
    : Type;
type Output<Schema extends z.ZodType> = Frozen<z.output<Schema>>;
type Input<Schema extends z.ZodType> = Frozen<z.input<Schema>>;

const webhook = BODY_SCHEMAS.Webhook.parse({ sid: `YW${"a".repeat(32)}` }) as Webhook;
const key = BODY_SCHEMAS.CreatedKey.parse({
  sid: `SK${"a".repeat(32)}`,
  secret: "s",
}) as CreatedKey;

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

  it("have no member of a misspelt name", () => {
    // @ts-expect-error: friendly_name
    expect(webhook.friendlyName).toBeUndefined();
    // @ts-expect-error: secret
    expect(key.secert).toBeUndefined();
    // @ts-expect-error: a Key that was fetched has no secret
    void (({ secret }: Key) => secret);
    // @ts-expect-error: event_types
    void ({ eventTypes: ["*"] } satisfies WebhookChange);
    // @ts-expect-error: friendly_name
    void ({ friendlyName: "x" } satisfies KeyInput);
    // @ts-expect-error: challenge.approved
    void (["challenge.aproved"] satisfies WebhookInput["event_types"]);
    // @ts-expect-error: the option is actor, and so is the member
    void ((entry: AuditEntry) => entry.who);
    // @ts-expect-error: items
    void ((page: Page<Key>) => page.item);
    // @ts-expect-error: misspelt code
    void ((finding: Finding) => finding.code === "DISABELD");
    expectTypeOf<AdminClient["keys"]["create"]>().returns.resolves.toEqualTypeOf<CreatedKey>();
    expectTypeOf<AdminClient["webhooks"]["fetch"]>().returns.resolves.toEqualTypeOf<Webhook>();
  });

  it("are read-only", () => {
    // @ts-expect-error: a resource is changed by update()
    void ((one: Webhook) => (one.status = "disabled"));
    // @ts-expect-error: nor are its lists
    void ((one: Webhook) => one.event_types?.push("*"));
    // @ts-expect-error: an audit entry is what happened
    void ((entry: AuditEntry) => (entry.actor = "alice"));
  });
});
