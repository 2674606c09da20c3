import type { DedupeStore } from "../index";
import { within } from "../kit/response-timeout";
import { DEDUPE_CHECKS } from "./dedupe-checks";

const METHODS = ["claim", "complete", "release"] as const;

/** The longest duration of one check, so that a store that does not respond fails it. */
const CHECK_MS = 5_000;

/**
 * Checks that a `DedupeStore` fulfils its contract; runs in any test runner. Each check uses new
 * accounts, so the store may contain other data and several runs may share it. All checks take
 * about 0.7 s, because two await the end of a lease of 200 ms, and about 150 calls of the store. A
 * check that takes longer than 5 s fails.
 *
 * @param create returns the open store; close it after the promise has settled.
 *
 * @example
 * test("the store drops duplicates", () => testDedupeStore(() => createMyStore()));
 *
 * @throws AggregateError (by the promise) whose message lists each failed check with the expected
 *   and the received value; TypeError when `create` returns no store; the error of `create`.
 */
export async function testDedupeStore(
  create: () => DedupeStore | Promise<DedupeStore>,
): Promise<void> {
  const store = await create();
  for (const method of METHODS) {
    if (typeof (store as Partial<DedupeStore> | undefined)?.[method] === "function") continue;
    throw new TypeError(`testDedupeStore: the store has no method ${method}.`);
  }
  const failures: Error[] = [];
  for (const [name, check] of Object.entries(DEDUPE_CHECKS)) {
    try {
      await within(check(store), CHECK_MS);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failures.push(new Error(`${name}: ${reason}`, { cause: error }));
    }
  }
  if (failures.length === 0) return;
  const lines = failures.map(({ message }) => `\n- ${message}`).join("");
  const count = `${failures.length} of ${Object.keys(DEDUPE_CHECKS).length} checks failed`;
  throw new AggregateError(failures, `testDedupeStore: ${count}:${lines}`);
}
