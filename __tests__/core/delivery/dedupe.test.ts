import {
  createMemoryDedupe,
  type Claim,
  type DedupeClaim,
  type DedupeStore,
} from "express-push-verification";
import { Deduplication } from "../../../lib/core/delivery/dedupe";
import type { WebhookError } from "../../../lib/core/errors/webhook-error";
import { createGate, nextTurn, until } from "../../support/waiting";

const keyOf = (uuid: string, contentHash = "hash") => ({ accountSid: "AC1", uuid, contentHash });
const UNAVAILABLE = { code: "STORE_UNAVAILABLE" };
const failures: WebhookError[] = [];
const run = jest.fn(async () => {});

beforeEach(() => {
  failures.splice(0);
  run.mockClear();
});
afterEach(() => void jest.useRealTimers());

/** Creates a deduplication; `deliver` awaits the handlers of a delivery too, and returns its result. */
function start(store: DedupeStore = createMemoryDedupe(), retryForMs = 200) {
  const deduplication = new Deduplication(store, (error) => failures.push(error), retryForMs);
  const accept = async (request = keyOf("a"), handle: () => Promise<void> = run) =>
    deduplication.accept(request, {
      run: handle,
      deadlineAtMs: Infinity,
      finishAtMs: Number.MAX_VALUE,
    });
  async function deliver(...given: Parameters<typeof accept>) {
    const { result, finished } = await accept(...given);
    await finished;
    return result;
  }
  return { accept, deliver };
}

/** A store with these results of its claims, the last one again and again, and its calls. */
function createScripted(...claims: unknown[]) {
  const log: string[] = [];
  const claimed: DedupeClaim[] = [];
  const store: DedupeStore = {
    claim(claim) {
      claimed.push(claim);
      const found = claims.length > 1 ? claims.shift() : claims[0];
      log.push(`claim ${String(found)}`);
      if (found instanceof Error) throw found;
      return found as Claim;
    },
    complete: () => void log.push("complete"),
    release: ({ owner }) => void log.push(`release ${owner}`),
  };
  return { store, log, claimed };
}

it("fails only the concurrent duplicates of a failed run", async () => {
  const { deliver } = start();
  const reason = new Error("failed");
  run.mockRejectedValueOnce(reason);
  const settled = await Promise.allSettled([deliver(), deliver(), deliver()]);
  expect(settled).toEqual(Array(3).fill({ status: "rejected", reason }));
  expect(run).toHaveBeenCalledTimes(1);
  expect(await deliver()).toBe("new");
});

it("repeats a failed claim as one owner for concurrent deliveries of the same content", async () => {
  const { store, claimed } = createScripted(new Error("down"));
  const { accept } = start(store, 40);
  const settled = await Promise.allSettled([accept(), accept(), accept(keyOf("a", "two"))]);
  expect(settled).toMatchObject(Array(3).fill({ reason: UNAVAILABLE }));
  expect(new Set(claimed.map(({ owner }) => owner)).size).toBe(2);
});

it("causes no unhandled rejection when the caller does not await a failure", async () => {
  const unhandled = jest.fn();
  process.on("unhandledRejection", unhandled);
  await start().accept(keyOf("a"), () => Promise.reject(new Error("failed")));
  await nextTurn();
  process.off("unhandledRejection", unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

it("knows equal content that another token signed, during the run and after it", async () => {
  const { deliver } = start();
  const gate = createGate();
  const first = deliver(keyOf("a"), () => gate.opened);
  const rotated = { ...keyOf("a", "two"), listOtherHashes: () => ["else", "hash"] };
  const during = [deliver(rotated), deliver(keyOf("a", "three"))];
  gate.open();
  expect(await Promise.all([first, ...during])).toEqual(["new", "duplicate", "conflict"]);
  expect(await deliver(rotated)).toBe("duplicate");
  expect(await deliver(keyOf("a", "three"))).toBe("conflict");
});

it("completes one claim after the run for all deliveries during it", async () => {
  const { store, log } = createScripted("new");
  const { deliver } = start(store);
  let during: Promise<string> | undefined;
  const first = deliver(keyOf("a"), async () => {
    during = deliver();
    await nextTurn();
    log.push("run");
  });
  expect([await first, await during]).toEqual(["new", "duplicate"]);
  expect(log).toEqual(["claim new", "run", "complete"]);
});

it.each([
  ["drops", "duplicate", () => Promise.resolve()],
  ["runs, after a failure of the other one,", "new", () => Promise.reject(new Error("failed"))],
])("%s a delivery that another receiver with the same memory runs", async (_what, result, end) => {
  const store = createMemoryDedupe();
  const gate = createGate();
  const first = start(store).deliver(keyOf("a"), () => gate.opened.then(end));
  const second = start(store, 60_000).deliver();
  await nextTurn();
  expect(run).not.toHaveBeenCalled();
  gate.open();
  await Promise.allSettled([first]);
  expect(await second).toBe(result);
});

it("shows a store a hash of the signature", async () => {
  const { store, claimed } = createScripted("conflict");
  const { deliver } = start(store);
  for (let times = 0; times < 2; times++) expect(await deliver()).toBe("conflict");
  const contentHash: unknown = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(claimed).toMatchObject(Array(2).fill({ contentHash }));
});

it.each<[claim: unknown, cause: object]>([
  ["running", { name: "Error" }],
  [undefined, { name: "TypeError" }],
  ["duplicate", { name: "TypeError" }],
])("rejects a request for which claim returns %j until the deadline", async (claim, cause) => {
  const delivery = start(createScripted(claim).store, 60).deliver();
  await expect(delivery).rejects.toMatchObject({ ...UNAVAILABLE, cause });
  expect(run).not.toHaveBeenCalled();
});

it("marks handled requests without a limit on concurrent marks", async () => {
  jest.useFakeTimers();
  const marking = createGate();
  const store = { ...createScripted("new").store, complete: () => marking.opened };
  const { accept } = start(store, 8_000);
  const uuids = Array.from({ length: 1_001 }, (_, index) => String(index));
  const deliveries = await Promise.all(uuids.map((uuid) => accept(keyOf(uuid))));
  // The only attempt of an operation over a limit has 250 ms.
  await jest.advanceTimersByTimeAsync(300);
  marking.open();
  for (const { finished } of deliveries) await finished;
  expect(failures).toEqual([]);
});

it.each<Claim>(["new", "running"])(
  "releases its own claim only, at the deadline and when the store replies after it: %j",
  async (late) => {
    let reply!: (claim: Claim) => void;
    const { store, log, claimed } = createScripted(new Promise((resolve) => (reply = resolve)));
    await expect(start(store, 20).accept()).rejects.toMatchObject(UNAVAILABLE);
    const own = `release ${claimed[0]?.owner}`;
    const listReleases = () => log.filter((call) => call.startsWith("release"));
    expect(listReleases()).toEqual([own]);
    reply(late);
    await nextTurn();
    expect(listReleases()).toEqual([own, own]);
  },
);

it("completes a handled uuid later when the store was down", async () => {
  let isDown = true;
  const completed: string[] = [];
  const complete: DedupeStore["complete"] = ({ uuid }) => {
    if (isDown) throw new Error("down");
    completed.push(uuid);
  };
  const { deliver } = start({ ...createScripted("new").store, complete }, 40);
  expect(await deliver()).toBe("new");
  isDown = false;
  await until(() => completed.includes("a"));
  expect(failures).toMatchObject([UNAVAILABLE]);
});

it("rejects with the failure of the run when the release fails too", async () => {
  const release = () => Promise.reject(new Error("down"));
  const { deliver } = start({ ...createScripted("new").store, release }, 40);
  const failed = deliver(keyOf("b"), () => Promise.reject(new Error("no")));
  await expect(failed).rejects.toThrow("no");
  expect(failures).toMatchObject([UNAVAILABLE]);
});
