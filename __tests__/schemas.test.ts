/** The interfaces that are written out equal the schemas of zod, checked by the compiler. */
import { expectTypeOf } from "expect-type";
import type { z } from "zod";
import type {
  ChallengeDetails,
  PushEvent,
  PushEventOf,
  PushEventType,
  PushEventVersion,
  UnknownPushEvent,
} from "express-push-verification";
import type { CreatedKey, Key, Webhook, WebhookInput } from "express-push-verification/admin";
import type { Fault } from "express-push-verification/emulator";
import type { KeyInput } from "../lib/admin/client/key";
import type * as admin from "../lib/admin/client/input-rules";
import type { WebhookChange } from "../lib/admin/client/webhook";
import type { BODY_SCHEMAS } from "../lib/admin/router/routes";
import type { NewWebhook } from "../lib/emulator/options";
import type { FaultKind } from "../lib/emulator/outbound/faults";
import type { ChallengeDecision, NewChallenge, NewFactor } from "../lib/emulator/resources/entity";
import type { NewKey } from "../lib/emulator/resources/keys";
import type * as emulator from "../lib/emulator/resources/schemas";
import type { detailsSchema, pushEventSchema, unknownEventSchema } from "../lib/core/event/schema";

/**
 * A type in the form that both an interface and the output of a schema have: deeply read-only,
 * without the index signature of a loose object that has members, and without members that are
 * always undefined.
 */
type Comparable<Type> = Type extends readonly (infer Item)[]
  ? readonly Comparable<Item>[]
  : Type extends object
    ? [KnownName<Type>] extends [never]
      ? Readonly<Type>
      : { readonly [Name in keyof Type as Compared<Type, Name>]: Comparable<Type[Name]> }
    : Type;
type KnownName<Type> = keyof {
  [Name in keyof Type as string extends Name ? never : number extends Name ? never : Name]: Name;
};
type Compared<Type, Name extends keyof Type> =
  Name extends KnownName<Type> ? ([Type[Name]] extends [undefined] ? never : Name) : never;

type Outputs<Rows extends Record<string, z.ZodType>> = Comparable<{
  [Name in keyof Rows]: z.output<Rows[Name]>;
}>;
type Inputs<Rows extends Record<string, z.ZodType>> = Comparable<{
  [Name in keyof Rows]: z.input<Rows[Name]>;
}>;

type ParsedEvent = z.output<typeof pushEventSchema>;
type ParsedEventOf<Type extends PushEventType, Version extends PushEventVersion> = Extract<
  ParsedEvent,
  { type: Type; version: Version }
>;
type Each<Of extends "interface" | "schema"> = {
  [Type in PushEventType]: {
    [Version in PushEventVersion]: Comparable<
      Of extends "schema" ? ParsedEventOf<Type, Version> : PushEventOf<Type, Version>
    >;
  };
};

it("events, in every type and version", () => {
  expectTypeOf<Each<"interface">>().toEqualTypeOf<Each<"schema">>();
  expectTypeOf<PushEvent["type"]>().toEqualTypeOf<ParsedEvent["type"]>();
  expectTypeOf<PushEvent["version"]>().toEqualTypeOf<ParsedEvent["version"]>();
  type Others = { unknown: UnknownPushEvent; details: ChallengeDetails };
  type OtherSchemas = {
    unknown: z.output<typeof unknownEventSchema>;
    details: z.output<typeof detailsSchema>;
  };
  expectTypeOf<Comparable<Others>>().toEqualTypeOf<Comparable<OtherSchemas>>();
  // The comparison distinguishes them.
  type Event = PushEventOf<"challenge.approved", "v2">;
  type Parsed = Comparable<ParsedEventOf<"challenge.approved", "v2">>;
  expectTypeOf<Comparable<Event & { extra: 1 }>>().not.toEqualTypeOf<Parsed>();
  expectTypeOf<Comparable<Omit<Event, "uuid">>>().not.toEqualTypeOf<Parsed>();
});

it("events narrow by type and version", () => {
  expectTypeOf<PushEventOf<"factor.created", "v1">["version"]>().toEqualTypeOf<"v1">();
  expectTypeOf<PushEventOf<"factor.created">["version"]>().toEqualTypeOf<"v1" | "v2">();
  expectTypeOf<PushEventOf<PushEventType>>().toEqualTypeOf<PushEvent>();
  // @ts-expect-error: no such version
  expectTypeOf<PushEventOf<"factor.created", "v3">>();
  // @ts-expect-error: no such type
  expectTypeOf<PushEventOf<"factor.create">>();
});

it("resources and arguments of the admin client", () => {
  type Resources = { Key: Key; CreatedKey: CreatedKey; Webhook: Webhook };
  type ResourceSchemas = Pick<typeof BODY_SCHEMAS, keyof Resources>;
  expectTypeOf<Comparable<Resources>>().toEqualTypeOf<Outputs<ResourceSchemas>>();
  type Arguments = {
    keyInputSchema: KeyInput;
    webhookInputSchema: WebhookInput;
    webhookChangeSchema: WebhookChange;
  };
  type ArgumentSchemas = Pick<typeof admin, keyof Arguments>;
  expectTypeOf<Comparable<Arguments>>().toEqualTypeOf<Inputs<ArgumentSchemas>>();
});

it("arguments and faults of the emulator", () => {
  type Arguments = {
    newKeySchema: NewKey;
    newFactorSchema: NewFactor;
    newChallengeSchema: NewChallenge;
    decisionSchema: ChallengeDecision;
    newWebhookSchema: NewWebhook;
  };
  type ArgumentSchemas = Pick<typeof emulator, keyof Arguments>;
  expectTypeOf<Comparable<Arguments>>().toEqualTypeOf<Inputs<ArgumentSchemas>>();
  type ParsedFault = z.input<typeof emulator.faultSchema>;
  expectTypeOf<FaultKind>().toEqualTypeOf<ParsedFault["kind"]>();
  type Kind<Faults, One extends FaultKind> = Comparable<Extract<Faults, { kind: One }>>;
  type Single = "duplicate" | "unknown-event-type" | "extra-parameters";
  expectTypeOf<{ [One in Single]: Kind<Fault, One> }>().toEqualTypeOf<{
    [One in Single]: Kind<ParsedFault, One>;
  }>();
  // The other interfaces have several kinds each: both unions accept the same arguments.
  expectTypeOf<ParsedFault>().toExtend<Fault>();
  expectTypeOf<Fault>().toExtend<Comparable<ParsedFault>>();
});
