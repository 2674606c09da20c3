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
import type { detailsSchema, pushEventSchema, unknownEventSchema } from "../../lib/event/schema";
import type { Comparable } from "../support/comparable";

type ParsedEvent = z.output<typeof pushEventSchema>;
type ParsedEventOf<Type extends PushEventType, Version extends PushEventVersion> = Extract<
  ParsedEvent,
  { type: Type; version: Version }
>;

type Interfaces = {
  [Type in PushEventType]: {
    [Version in PushEventVersion]: Comparable<PushEventOf<Type, Version>>;
  };
};
type Schemas = {
  [Type in PushEventType]: {
    [Version in PushEventVersion]: Comparable<ParsedEventOf<Type, Version>>;
  };
};

describe("the interfaces of events, checked by the compiler", () => {
  it("equal the schemas in every type and version", () => {
    expectTypeOf<Interfaces>().toEqualTypeOf<Schemas>();
    expectTypeOf<PushEvent["type"]>().toEqualTypeOf<ParsedEvent["type"]>();
    expectTypeOf<PushEvent["version"]>().toEqualTypeOf<ParsedEvent["version"]>();
    expectTypeOf<Comparable<UnknownPushEvent>>().toEqualTypeOf<
      Comparable<z.output<typeof unknownEventSchema>>
    >();
    expectTypeOf<Comparable<ChallengeDetails>>().toEqualTypeOf<
      Comparable<z.output<typeof detailsSchema>>
    >();
  });

  it("are distinguished by this comparison", () => {
    type Event = PushEventOf<"challenge.approved", "v2">;
    type Parsed = Comparable<ParsedEventOf<"challenge.approved", "v2">>;
    expectTypeOf<Comparable<Event>>().toEqualTypeOf<Parsed>();
    expectTypeOf<Comparable<Event & { extra: 1 }>>().not.toEqualTypeOf<Parsed>();
    expectTypeOf<Comparable<Omit<Event, "uuid">>>().not.toEqualTypeOf<Parsed>();
  });

  it("narrow by type and version", () => {
    expectTypeOf<PushEventOf<"factor.created", "v1">["version"]>().toEqualTypeOf<"v1">();
    expectTypeOf<PushEventOf<"factor.created">["version"]>().toEqualTypeOf<"v1" | "v2">();
    expectTypeOf<PushEventOf<PushEventType>>().toEqualTypeOf<PushEvent>();
    // @ts-expect-error: no such version
    expectTypeOf<PushEventOf<"factor.created", "v3">>();
    // @ts-expect-error: no such type
    expectTypeOf<PushEventOf<"factor.create">>();
  });
});
