import { createRetry } from "../../delivery/retry";
import { createClosedError } from "../closed-error";

/** Runs an operation on the queue, such as `stats`, within limits. */
export type RunOperation = <Value>(operation: () => Promise<Value>) => Promise<Value>;

/** Limits of {@link createOperations}. */
export interface OperationLimits {
  /** How long an operation is retried, in milliseconds. */
  retryForMs: number;
  /** How long one attempt may take, in milliseconds. */
  attemptMs: number;
  /** Throws the reason why Redis is out of reach. */
  assertReachable: () => void;
  isClosed: () => boolean;
}

/**
 * Creates the function that runs operations: before Redis is reached, or in an outage, an operation
 * is retried.
 *
 * @throws (by the function) WebhookError `STORE_UNAVAILABLE` after `retryForMs` with the last error
 *   of Redis as cause, `OVERLOADED`, `CLOSING`; the TypeError of an operation at once.
 */
export function createOperations(limits: OperationLimits): RunOperation {
  const { retryForMs, attemptMs, assertReachable, isClosed } = limits;
  const retry = createRetry({ what: "Redis", retryForMs, attemptMs });

  return async function run(operation) {
    const result = await retry(async () => {
      if (isClosed()) throw createClosedError();
      assertReachable();
      try {
        return { value: await operation() };
      } catch (error) {
        // A mistake of the caller: another attempt would make it again.
        if (error instanceof TypeError) return { error };
        throw error;
      }
    });
    if ("error" in result) throw result.error;
    return result.value;
  };
}
