import type { OperationName, Request } from "./protocol";

/** How an operation runs. */
type Kind = "note" | "read" | "write" | "durable";

/**
 * How an operation runs: `note` in memory, `read` without a transaction, `write` in the transaction,
 * `durable` in the transaction, which then waits for the disk.
 */
const KINDS: Readonly<Record<OperationName, Kind>> = {
  store: "durable",
  record: "durable",
  watch: "read",
  unwatch: "note",
  want: "note",
  unwant: "note",
  finish: "durable",
  fail: "durable",
  heartbeat: "write",
  letters: "read",
  retry: "durable",
  retrySome: "durable",
  discard: "durable",
  stats: "read",
  leave: "write",
};

/** Returns the requests whose operations are of these kinds. */
export function filterKinds(requests: readonly Request[], ...kinds: Kind[]): Request[] {
  return requests.filter(([, name]) => kinds.includes(KINDS[name]));
}

/** Returns whether one of the requests has to wait for the disk. */
export function hasDurable(requests: readonly Request[]): boolean {
  return filterKinds(requests, "durable").length > 0;
}
