import type { PushEventType } from "../../index";
import type { Complete } from "../../kit/validate-options";
import { faultSchema, validateFields } from "../resources/schemas";

/**
 * A fault of webhook requests.
 *
 * - `duplicate`: the request is delivered several times concurrently.
 * - `reorder`: the request is delayed until the next one to the same webhook is finished.
 * - `delay`: the request is sent `delay_ms` late.
 * - `drop-connection`: the connection is closed once the request is sent, so its response is
 *   dropped and the emulator sends it again.
 * - `wrong-signature`: the request is signed with a random token.
 * - `old-token`: the request is signed with the emulator's `previousAuthToken`.
 * - `unknown-event-type`: the request has a type that does not exist yet.
 * - `extra-parameters`: the request has parameters that do not exist yet.
 */
export type Fault = {
  /** How many webhook requests it happens to, from 1 to 1,000,000. @default 1 */
  times?: number | undefined;
  /** The type of the events that it happens to. @default every type */
  event_type?: PushEventType | undefined;
} & (
  | { kind: "drop-connection" | "wrong-signature" | "old-token" }
  | {
      kind: "duplicate";
      /** How many deliveries are added, all at the same time, from 1 to 100. @default 1 */
      copies?: number | undefined;
    }
  | {
      kind: "reorder" | "delay";
      /** In milliseconds; for `reorder`, the longest one. At most 600,000. @default 1_000 */
      delay_ms?: number | undefined;
    }
  | {
      kind: "unknown-event-type";
      /** The type of the event. @default "challenge.expired" */
      type?: string | undefined;
    }
  | {
      kind: "extra-parameters";
      /** The parameters by name. @default { risk_score: "12" } */
      params?: Readonly<Record<string, string>> | undefined;
    }
);

/** The name of a fault. */
export type FaultKind = Fault["kind"];

/** The faults of one webhook request, with their defaults. */
export type FaultPlan = { [Kind in FaultKind]?: Complete<Fault & { kind: Kind }> };

export type Faults = ReturnType<typeof createFaults>;

/** Creates an empty list of faults. */
export function createFaults() {
  const active = new Set<Fault & { times: number }>();

  return {
    /** Adds a fault. @throws EmulatorError 60200 for an unknown kind or an invalid field. */
    inject: (fault: Fault) => void active.add(validateFields(faultSchema, fault)),
    clear: () => active.clear(),
    /** Takes the faults of the next request of a type: at most one of each kind. */
    take(type: string): FaultPlan {
      const plan: FaultPlan = {};
      for (const fault of active) {
        if ((fault.event_type ?? type) !== type || fault.kind in plan) continue;
        Object.assign(plan, { [fault.kind]: fault });
        fault.times--;
        if (fault.times === 0) active.delete(fault);
      }
      return plan;
    },
  };
}
