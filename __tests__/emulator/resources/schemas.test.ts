import type { ChallengeDecision, NewChallenge } from "../../../lib/emulator/resources/challenge";
import type { FaultKind } from "../../../lib/emulator/outbound/faults";
import type { NewFactor } from "../../../lib/emulator/resources/factor";
import type { NewKey } from "../../../lib/emulator/resources/keys";
import type { NewWebhook } from "../../../lib/emulator/options";
import { expectTypeOf } from "expect-type";
import type { z } from "zod";
import type { Fault } from "express-push-verification/emulator";
import type {
  decisionSchema,
  faultSchema,
  newChallengeSchema,
  newFactorSchema,
  newKeySchema,
  newWebhookSchema,
} from "../../../lib/emulator/resources/schemas";
import type { Comparable } from "../../support/comparable";

type Input<Schema extends z.ZodType> = Comparable<z.input<Schema>>;
type FaultOf<Kind extends FaultKind> = Comparable<Extract<Fault, { kind: Kind }>>;
type InputOf<Kind extends FaultKind> = Comparable<
  Extract<z.input<typeof faultSchema>, { kind: Kind }>
>;

describe("the interfaces of the emulator, checked by the compiler", () => {
  it("equal the schemas that arguments are checked with", () => {
    expectTypeOf<Comparable<NewKey>>().toEqualTypeOf<Input<typeof newKeySchema>>();
    expectTypeOf<Comparable<NewFactor>>().toEqualTypeOf<Input<typeof newFactorSchema>>();
    expectTypeOf<Comparable<NewChallenge>>().toEqualTypeOf<Input<typeof newChallengeSchema>>();
    expectTypeOf<Comparable<ChallengeDecision>>().toEqualTypeOf<Input<typeof decisionSchema>>();
    expectTypeOf<Comparable<NewWebhook>>().toEqualTypeOf<Input<typeof newWebhookSchema>>();
  });

  it("equal the schema of faults, kind by kind", () => {
    expectTypeOf<FaultKind>().toEqualTypeOf<z.input<typeof faultSchema>["kind"]>();
    expectTypeOf<FaultOf<"duplicate">>().toEqualTypeOf<InputOf<"duplicate">>();
    expectTypeOf<FaultOf<"unknown-event-type">>().toEqualTypeOf<InputOf<"unknown-event-type">>();
    expectTypeOf<FaultOf<"extra-parameters">>().toEqualTypeOf<InputOf<"extra-parameters">>();
    // The other interfaces have several kinds each: both unions accept the same arguments.
    expectTypeOf<z.input<typeof faultSchema>>().toExtend<Fault>();
    expectTypeOf<Fault>().toExtend<Comparable<z.input<typeof faultSchema>>>();
  });
});
