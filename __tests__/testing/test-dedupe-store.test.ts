import { createMemoryDedupe, type DedupeClaim, type DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";
import { never, nextTurn } from "../support/waiting";

function changeStore(change: (store: DedupeStore) => Partial<DedupeStore>): DedupeStore {
  const store = createMemoryDedupe();
  return { ...store, ...change(store) };
}

type Key = Parameters<DedupeStore["release"]>[0];

const changeClaims = (change: (claim: DedupeClaim) => Partial<DedupeClaim>) =>
  changeStore(({ claim }) => ({ claim: (one) => claim({ ...one, ...change(one) }) }));

const changeKeys = (change: (key: Key) => Partial<Key>) =>
  changeStore(({ claim, complete, release }) => ({
    claim: (one) => claim({ ...one, ...change(one) }),
    complete: (key) => complete({ ...key, ...change(key) }),
    release: (key) => release({ ...key, ...change(key) }),
  }));

function rejectNul({ uuid }: Key) {
  if (uuid.includes("\0")) throw new RangeError("invalid byte sequence: 0x00");
  return {};
}

const taken = new Set<string>();

/** Stores that break one rule each, and how the names of the failing checks begin. */
const BROKEN: [what: string, store: DedupeStore, checks: string[]][] = [
  [
    "never lapses a claim",
    changeClaims(() => ({ leaseMs: 1e9 })),
    ["a claim lapses", "one of many concurrent claims replaces"],
  ],
  [
    "ignores the account",
    changeKeys(() => ({ accountSid: "AC" })),
    [
      'accounts are apart: a claim of this uuid of another account must return "new"; received "running"',
    ],
  ],
  [
    "ignores the owner",
    changeKeys(() => ({ owner: "x" })),
    [
      "a uuid is claimed once",
      "complete of another owner",
      "release of another owner",
      "one of many concurrent claims is new",
    ],
  ],
  [
    "rejects a repeated claim of its owner",
    changeClaims(() => ({ owner: crypto.randomUUID() })),
    ["the owner of a claim may repeat it"],
  ],
  ["never releases", changeStore(() => ({ release() {} })), ["a released uuid is new again"]],
  ["never completes", changeStore(() => ({ complete() {} })), ["a uuid is claimed once"]],
  [
    "lets a done uuid lapse with its lease",
    changeStore(({ claim, release }) => {
      const ends = new Map<string, number>();
      const done = new Set<string>();
      return {
        claim(one) {
          const { uuid, leaseMs } = one;
          if (done.has(uuid) && ends.get(uuid)! > performance.now()) return "done";
          ends.set(uuid, performance.now() + leaseMs);
          return claim(one);
        },
        complete(key) {
          done.add(key.uuid);
          return release(key);
        },
      };
    }),
    ["a done uuid stays done"],
  ],
  [
    "reads before it writes",
    changeStore((store) => ({
      claim: async (one) => {
        const key = `${one.accountSid} ${one.uuid}`;
        const hasClaim = taken.has(key);
        await nextTurn();
        taken.add(key);
        const found = await store.claim(one);
        return hasClaim || found !== "running" ? found : "new";
      },
    })),
    ["one of many concurrent claims is new"],
  ],
  [
    "drops what another owner runs",
    changeStore((store) => ({
      async claim(one) {
        const found = await store.claim(one);
        return found === "running" ? "done" : found;
      },
    })),
    ["one of many concurrent claims is new"],
  ],
  ["ignores case", changeKeys(({ uuid }) => ({ uuid: uuid.toLowerCase() })), ["uuids are apart"]],
  ["cuts uuids", changeKeys(({ uuid }) => ({ uuid: uuid.slice(0, 255) })), ["uuids are apart"]],
  ["trims uuids", changeKeys(({ uuid }) => ({ uuid: uuid.trim() })), ["uuids are apart"]],
  ["throws for NUL", changeClaims(rejectNul), ["every text may be a uuid"]],
  [
    "returns an unknown result",
    changeStore(() => ({ claim: () => "claimed" as never })),
    ["a uuid is claimed once", "every text may be a uuid"],
  ],
];

describe("testDedupeStore", () => {
  it("passes memory stores that several runs share, with conflicts or without", async () => {
    const store = createMemoryDedupe();
    const claim: DedupeStore["claim"] = async (one) => {
      const found = await store.claim(one);
      return found === "conflict" ? "done" : found;
    };
    const stores = [() => store, async () => store, () => ({ ...store, claim })];
    await Promise.all(stores.map((createStore) => testDedupeStore(createStore)));
  });

  it.concurrent.each(BROKEN)("fails a store that %s", async (_what, store, checks) => {
    const thrown: unknown = await testDedupeStore(() => store).catch((error: unknown) => error);
    const { errors, message } = thrown as AggregateError;
    expect(message).toMatch(/^testDedupeStore: \d+ of \d+ checks failed:\n- /);
    for (const check of checks) expect(message).toContain(`\n- ${check}`);
    expect(errors.every((error) => error instanceof Error)).toBe(true);
  });

  it.each([undefined, null, {}, { claim() {} }])("rejects %p, which is no store", (store) =>
    expect(testDedupeStore(() => store as never)).rejects.toThrow(TypeError),
  );

  it("fails a store that does not respond, without waiting for it", async () => {
    jest.useFakeTimers();
    const store = changeStore(() => ({ claim: never }));
    const failed = expect(testDedupeStore(() => store)).rejects.toThrow("within 5000 ms");
    await jest.advanceTimersByTimeAsync(5_000 * 20);
    jest.useRealTimers();
    await failed;
  });
});
