import { toOutcome } from "../../lib/core/delivery/outcome";
import { SharedOutcomes } from "../../lib/durable/outcomes";
import { createQueue, type Engine } from "../../lib/durable/queue";
import { resolveQueueOptions, type QueueSettings } from "../../lib/durable/queue-options";
import type { Storage, StoredOutcome } from "../../lib/durable/storage";
import { eventFixture } from "../../lib/testing/event-fixture";
import { silent } from "../support/receivers";
import { createGate, nextTurn } from "../support/waiting";

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

it("asks a store that stalls for each awaited outcome once more at most", async () => {
  const reads: (readonly string[])[] = [];
  const gate = createGate();
  const storage: Pick<Storage, "outcomes"> = {
    async outcomes(keys) {
      reads.push(keys);
      await gate.opened;
      return [];
    },
  };
  const settings = { name: "q", maxWaiting: 100 };
  const outcomes = new SharedOutcomes(storage as Storage, settings as QueueSettings);
  const waits = Array.from({ length: 100 }, (_, index) =>
    outcomes.wait({ authenticatedAccount: "", challengeSid: String(index), timeoutMs: 60_000 }),
  );
  await nextTurn();
  for (let times = 0; times < 50; times++) outcomes.recheck();
  gate.open();
  for (let times = 0; times < 5; times++) await nextTurn();
  expect(reads.flat()).toHaveLength(200);
  outcomes.close();
  expect(await Promise.allSettled(waits)).toHaveLength(100);
});

it("a wait whose hint was lost reads its outcome each 3 s", async () => {
  jest.useFakeTimers();
  const startMs = Date.now();
  const reads: number[] = [];
  const storage = {
    outcomes: async () => (reads.push(Math.floor((Date.now() - startMs) / 1_000)), []),
  };
  const settings = { name: "q", maxWaiting: 1 } as QueueSettings;
  const outcomes = new SharedOutcomes(storage as unknown as Storage, settings);
  const wait = { authenticatedAccount: "", challengeSid: "YC1", timeoutMs: 60_000 };
  const closed = expect(outcomes.wait(wait)).rejects.toHaveProperty("code", "CLOSING");
  await jest.advanceTimersByTimeAsync(6_500);
  expect(reads).toEqual([0, 3, 6]);
  outcomes.close();
  await closed;
  expect(jest.getTimerCount()).toBe(0);
});

it("rejects the oldest wait beyond maxWaiting", async () => {
  const storage = { outcomes: async () => [] } as object;
  const outcomes = new SharedOutcomes(
    storage as Storage,
    { name: "q", maxWaiting: 1 } as QueueSettings,
  );
  const waits = ["YC1", "YC2"].map((challengeSid) =>
    outcomes.wait({ authenticatedAccount: "", challengeSid, timeoutMs: 60_000 }),
  );
  const codes = waits.map((wait) =>
    Promise.resolve(wait).catch(({ code }: Error & { code: string }) => code),
  );
  outcomes.close();
  expect(await Promise.all(codes)).toEqual(["OVERLOADED", "CLOSING"]);
});

it("a wait reads its outcome again when the store can be used again", async () => {
  jest.spyOn(globalThis, "setInterval").mockImplementation(() => ({ unref() {} }) as never);
  const stored: StoredOutcome[] = [];
  const ends: ((error: Error) => void)[] = [];
  /** The queue of a process, which gets no hint. */
  function open() {
    const engine = {
      title: "The store",
      connect: async () => ({ ended: new Promise<Error>((end) => ends.push(end)) }),
      record: async (added: StoredOutcome[]) => stored.push(...added),
      outcomes: async () => [...stored],
      secret: async (candidate: string) => candidate,
      async appendEntries() {},
      async trimEntries() {},
      async close() {},
    };
    const settings = resolveQueueOptions("test", { name: "q", logger: silent }, {});
    return createQueue(engine as unknown as Engine, settings);
  }
  const [one, other] = [open(), open()];
  const event = eventFixture("challenge.approved");
  const { challenge_sid: challengeSid } = event;
  const waiting = one.outcomes.wait({ authenticatedAccount: "", challengeSid, timeoutMs: 60_000 });
  await Promise.all([one.ready(), other.ready()]);
  await nextTurn();
  await other.outcomes.record("", toOutcome(event));
  ends[0]?.(new Error("down"));
  expect(await waiting).toHaveProperty("type", "challenge.approved");
  await Promise.all([one.close(), other.close()]);
});
