import { z } from "zod";
import { PUSH_EVENT_TYPES } from "../event";
import { checkFields, textSchema } from "./errors";

const scope = {
  /** How many calls it happens to. */
  times: z.int().min(1).max(1_000_000).default(1),
  /** The type of the calls it happens to; all by default. */
  event_type: z.enum(PUSH_EVENT_TYPES).optional(),
};

const delayMs = z.int().min(0).max(600_000);

const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("duplicate"),
    ...scope,
    /** How many more than one, all at the same time. */
    copies: z.int().min(1).max(100).default(1),
  }),
  z.strictObject({
    kind: z.literal("reorder"),
    ...scope,
    /** How long at the most the call waits to be overtaken. */
    delay_ms: delayMs.default(1_000),
  }),
  z.strictObject({ kind: z.literal("delay"), ...scope, delay_ms: delayMs.default(1_000) }),
  z.strictObject({ kind: z.literal("drop-connection"), ...scope }),
  z.strictObject({ kind: z.literal("wrong-signature"), ...scope }),
  z.strictObject({ kind: z.literal("old-token"), ...scope }),
  z.strictObject({
    kind: z.literal("unknown-event-type"),
    ...scope,
    type: textSchema.min(1).default("challenge.expired"),
  }),
  z.strictObject({
    kind: z.literal("extra-parameters"),
    ...scope,
    params: z.record(textSchema, textSchema).default({ risk_score: "12" }),
  }),
]);

/**
 * What goes wrong with calls.
 *
 * - `duplicate`: the call is sent several times at once.
 * - `reorder`: the call is held back until the next one to the same webhook is finished.
 * - `delay`: the call is sent `delay_ms` late.
 * - `drop-connection`: the connection is cut once the call is sent, so its answer is lost and it
 *   is sent again.
 * - `wrong-signature`: the call is signed with a token that nobody knows.
 * - `old-token`: the call is signed with the emulator's `previousAuthToken`.
 * - `unknown-event-type`: the call is of a type that does not exist yet.
 * - `extra-parameters`: the call has parameters that do not exist yet.
 */
export type Fault = z.input<typeof faultSchema>;

/** The name of a fault. */
export type FaultKind = Fault["kind"];

/** What goes wrong with one call. */
export type FaultPlan = { [Kind in FaultKind]?: Extract<ActiveFault, { kind: Kind }> };

type ActiveFault = z.output<typeof faultSchema>;

/** The faults to come. */
export interface Faults {
  /** @throws EmulatorError 60200 for a fault that does not exist. */
  inject(fault: Fault): void;
  clear(): void;
  /** Takes what happens to the next call of this type: at the most one fault of each kind. */
  take(type: string): FaultPlan;
}

/** Makes an empty list of faults. */
export function createFaults(): Faults {
  const active = new Set<ActiveFault>();

  return {
    inject(fault) {
      active.add(checkFields(faultSchema, fault));
    },
    clear() {
      active.clear();
    },
    take(type) {
      const plan: FaultPlan = {};
      for (const fault of active) {
        if (fault.event_type !== undefined && fault.event_type !== type) continue;
        if (fault.kind in plan) continue;
        Object.assign(plan, { [fault.kind]: fault });
        fault.times--;
        if (fault.times === 0) active.delete(fault);
      }
      return plan;
    },
  };
}
