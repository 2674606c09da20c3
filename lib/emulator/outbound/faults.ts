import type * as z from "../../validation/zod";
import { faultSchema, validateFields } from "../resources/schemas";
import type { Fault, FaultKind } from "./fault";

type ActiveFault = z.output<typeof faultSchema>;

/** The faults of one webhook request, with their defaults. */
export type FaultPlan = { [Kind in FaultKind]?: ActiveFault & { kind: Kind } };

/** Faults that have not happened yet. */
export type Faults = ReturnType<typeof createFaults>;

/** Creates an empty list of faults. */
export function createFaults() {
  const active = new Set<ActiveFault>();

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
