import { createMemoryDedupe, type DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";

/** Runs the checks of a store that must fail some, and returns the error. */
async function findFailures(store: DedupeStore): Promise<AggregateError> {
  const error: unknown = await testDedupeStore(() => store).catch((thrown: unknown) => thrown);
  if (!(error instanceof AggregateError)) throw new Error("the store passed");
  return error;
}

/** Returns the memory store with some methods changed. */
function changeStore(change: (store: DedupeStore) => Partial<DedupeStore>): DedupeStore {
  const store = createMemoryDedupe();
  return { ...store, ...change(store) };
}

/** A key of a claim, of a mark or of a release. */
type Key = Parameters<DedupeStore["release"]>[0];

/** Returns the memory store with the keys changed. */
function changeKeys(change: (key: Key) => Partial<Key>): DedupeStore {
  return changeStore(({ claim, complete, release }) => ({
    claim: (one) => claim({ ...one, ...change(one) }),
    complete: (key) => complete({ ...key, ...change(key) }),
    release: (key) => release({ ...key, ...change(key) }),
  }));
}

const marks = new Map<string, number>();
const taken = new Set<string>();

/** Stores that break one rule each, and how the names of the failing checks begin. */
const BROKEN: [what: string, store: DedupeStore, checks: string[]][] = [
  [
    "never lapses a claim",
    changeStore(({ claim }) => ({ claim: (one) => claim({ ...one, leaseMs: 1e9 }) })),
    ["a claim lapses", "one of many concurrent claims replaces"],
  ],
  ["ignores the account", changeKeys(() => ({ accountSid: "AC" })), ["accounts are apart"]],
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
    changeStore(({ claim }) => ({
      claim: (one) => claim({ ...one, owner: crypto.randomUUID() }),
    })),
    ["the owner of a claim may repeat it"],
  ],
  ["never releases", changeStore(() => ({ release: () => {} })), ["a released uuid is new again"]],
  ["never completes", changeStore(() => ({ complete: () => {} })), ["a uuid is claimed once"]],
  [
    "lets the mark of a done uuid lapse with the lease",
    changeStore((store) => ({
      claim: async (one) => {
        const found = await store.claim(one);
        return found === "done" && (marks.get(one.uuid) ?? 0) < performance.now() ? "new" : found;
      },
      complete: (key) => {
        marks.set(key.uuid, performance.now() + 200);
        return store.complete(key);
      },
    })),
    ["a done uuid stays done"],
  ],
  [
    "reads before it writes",
    changeStore((store) => ({
      claim: async (one) => {
        const key = `${one.accountSid} ${one.uuid}`;
        const hasClaim = taken.has(key);
        await new Promise((resolve) => setImmediate(resolve));
        taken.add(key);
        const found = await store.claim(one);
        return hasClaim || found !== "running" ? found : "new";
      },
    })),
    ["one of many concurrent claims is new"],
  ],
  ...[
    ["ignores the case of a uuid", (uuid: string) => uuid.toLowerCase()] as const,
    ["cuts a uuid to 255 characters", (uuid: string) => uuid.slice(0, 255)] as const,
    ["trims a uuid", (uuid: string) => uuid.trim()] as const,
  ].map(([what, change]): [string, DedupeStore, string[]] => [
    what,
    changeKeys(({ uuid }) => ({ uuid: change(uuid) })),
    ["uuids are apart"],
  ]),
  [
    "throws for NUL",
    changeStore(({ claim }) => ({
      claim(one) {
        if (one.uuid.includes("\0")) throw new RangeError("invalid byte sequence: 0x00");
        return claim(one);
      },
    })),
    ["every text may be a uuid"],
  ],
  [
    "returns an unknown result",
    changeStore(() => ({ claim: () => "claimed" as never })),
    ["a uuid is claimed once", "every text may be a uuid"],
  ],
];

describe("testDedupeStore", () => {
  it("passes the memory store, also when one is shared by several runs", async () => {
    const store = createMemoryDedupe();
    await Promise.all([testDedupeStore(() => store), testDedupeStore(async () => store)]);
  });

  it("passes a store that returns done for a conflict", async () => {
    const store = changeStore(({ claim }) => ({
      claim: async (one) => {
        const found = await claim(one);
        return found === "conflict" ? "done" : found;
      },
    }));
    await testDedupeStore(() => store);
  });

  it.concurrent.each(BROKEN)("fails a store that %s", async (_what, store, checks) => {
    const { errors, message } = await findFailures(store);
    for (const check of checks) expect(message).toContain(`\n- ${check}`);
    expect(errors.every((error) => error instanceof Error)).toBe(true);
  });

  it("names the check, the expected and the received value", async () => {
    const store = changeStore(({ claim }) => ({
      claim: (one) => claim({ ...one, accountSid: "AC" }),
      complete: () => {},
    }));
    const { message } = await findFailures(store);
    expect(message).toMatch(/^testDedupeStore: \d+ of \d+ checks failed:\n- /);
    expect(message).toContain(
      'accounts are apart: a claim of this uuid of another account must return "new"; received "running"',
    );
  });

  it.each([undefined, null, {}, { claim() {} }])(
    "rejects a value that is not a store: %p",
    async (store) => {
      await expect(testDedupeStore(() => store as never)).rejects.toThrow(TypeError);
    },
  );

  it("fails a store that does not respond, without waiting for it", async () => {
    jest.useFakeTimers();
    const failed = findFailures(changeStore(() => ({ claim: () => new Promise(() => {}) })));
    await jest.advanceTimersByTimeAsync(5_000 * 20);
    jest.useRealTimers();
    expect((await failed).message).toContain("no response within 5000 ms");
  });
});
