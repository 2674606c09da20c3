import { measureHeap } from "../../support/heap";
import { useWarnings } from "../../support/warnings";
import { createMemoryDedupe, type DedupeClaim, type DedupeStore } from "express-push-verification";

const claimOf = (uuid: string, changes: object = {}) => ({
  accountSid: "AC1",
  uuid,
  owner: "owner",
  contentHash: "hash",
  leaseMs: 60_000,
  ...changes,
});
const other = { owner: "other" };

const warnings = useWarnings();

function handle(store: DedupeStore, claim: DedupeClaim): void {
  void store.claim(claim);
  void store.complete(claim);
}

afterEach(() => jest.useRealTimers());

it.each([
  [{ ttlMs: 1_000 }, 1_000],
  [{}, 86_400_000],
])("forgets with %j a handled uuid after %i ms, without a warning", (options, ttlMs) => {
  jest.useFakeTimers();
  const store = createMemoryDedupe(options);
  handle(store, claimOf("a"));
  jest.advanceTimersByTime(ttlMs - 1);
  expect(store.claim(claimOf("a", other))).toBe("done");
  expect(store.claim(claimOf("a", { contentHash: "else" }))).toBe("conflict");
  jest.advanceTimersByTime(1);
  expect(store.claim(claimOf("a", other))).toBe("new");
  expect(warnings.list()).toEqual([]);
});

it("keeps a claim for its lease", () => {
  jest.useFakeTimers();
  const store = createMemoryDedupe();
  void store.claim(claimOf("a"));
  jest.advanceTimersByTime(59_999);
  expect(store.claim(claimOf("a", other))).toBe("running");
  jest.advanceTimersByTime(1);
  expect(store.claim(claimOf("a", other))).toBe("new");
});

it("evicts the oldest handled uuid over maxEntries with one warning", () => {
  const store = createMemoryDedupe({ maxEntries: 2 });
  void store.claim(claimOf("runs"));
  for (const uuid of ["a", "b", "c", "d"]) handle(store, claimOf(uuid));
  expect(store.claim(claimOf("c", other))).toBe("done");
  expect(store.claim(claimOf("d", other))).toBe("done");
  expect(store.claim(claimOf("a", other))).toBe("new");
  expect(store.claim(claimOf("runs", other))).toBe("running");
  expect(warnings.listCodes()).toEqual(["DEDUPE_EVICTED"]);
});

it.each([
  ["32 MiB for uuids as the service sends them", "", 100_000, 1, undefined],
  ["2 MiB for uuids beyond Latin-1", "é€".repeat(110), 7_000, 1, 2 ** 21],
  ["2 MiB for uuids of an account each", "", 4_000, 4_000, 2 ** 21],
])("holds at most %s", (_what, end, count, accounts, maxBytes) => {
  const store = createMemoryDedupe({ maxBytes });
  const before = measureHeap();
  let last = claimOf("");
  for (let index = 0; index < count; index++) {
    // Slices of a body and a header, which must not be kept as a whole.
    const account = String(index % accounts).padStart(32, "0");
    const body = `uuid=${String(index).padStart(36, "0")}${end}&AC${account}${"padding ".repeat(50)}`;
    const uuid = body.slice(5, 41 + end.length);
    const accountSid = body.slice(42 + end.length, 76 + end.length);
    const contentHash = `${String(index).padStart(28, "h")}${"padding ".repeat(50)}`.slice(0, 28);
    last = claimOf(uuid, { contentHash, accountSid });
    handle(store, last);
  }
  // 1 MiB more, for allocations of the test framework.
  expect(measureHeap() - before).toBeLessThan((maxBytes ?? 2 ** 25) + 2 ** 20);
  expect(store.claim({ ...last, ...other })).toBe("done");
  expect(warnings.listCodes()).toEqual(maxBytes === undefined ? [] : ["DEDUPE_EVICTED"]);
});

it.each([{ ttlMs: 0 }, { maxEntries: 0 }, { maxEntries: 2 ** 24 + 1 }, { maxBytes: 0 }])(
  "rejects the options %j",
  (options) => expect(() => createMemoryDedupe(options)).toThrow(/^createMemoryDedupe: /),
);
