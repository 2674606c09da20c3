/** Closing workers, queues and their processes; run on each engine. */
import { once } from "node:events";
import { createHandlers } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { operate, storeFactor, untilStats } from "../support/durable";
import type { EngineOutage, StoppableEngine } from "../support/engine";
import { createGate, nextTurn, until } from "../support/waiting";

const NONE: EngineOutage = { name: "responds", begin() {}, end() {} };

/** The sockets of this process, and the ports of its threads. */
const listConnections = () =>
  process.getActiveResourcesInfo().filter((name) => /TCP|Port/.test(name));

export function describeClosing(engine: StoppableEngine): void {
  let queue: DurableQueue;
  let handled: string[];
  const store = (uuid: string, into = queue) => storeFactor(into, uuid);
  const handlers = createHandlers().onAny(({ uuid }) => void handled.push(uuid));
  const isClosing = expect.objectContaining({ code: "CLOSING", status: 503 }) as Error;
  const expectClosing = (...rejected: Promise<unknown>[]) =>
    Promise.all(rejected.map((one) => expect(one).rejects.toEqual(isClosing)));

  beforeEach(async () => {
    handled = [];
    queue = engine.open({ backoff: 600_000 });
    await queue.ready();
  });
  afterEach(() => void jest.restoreAllMocks());

  /** Starts a worker whose handlers of a stored event run until `finish`, and fail then. */
  async function startRunning() {
    const { opened, open: finish } = createGate();
    // Longer than every deadline.
    const options = { handlerTimeoutMs: 600_000 };
    const fail = () => Promise.reject(new Error("later"));
    const worker = queue.work(
      createHandlers().onAny(() => opened.then(fail)),
      options,
    );
    await store("slow");
    await untilStats(queue, { active: 1 });
    return { worker, finish };
  }

  async function expectWaiting(closing: PromiseLike<unknown>, finish: () => void): Promise<void> {
    let isClosed = false;
    const closed = closing.then(() => (isClosed = true));
    await nextTurn();
    expect(isClosed).toBe(false);
    finish();
    await closed;
  }

  it("a closing worker finishes its running handlers", async () => {
    const { worker, finish } = await startRunning();
    expect(() => worker.close({ deadline: 5 } as never)).toThrow(/deadlineMs/);
    const closing = worker[Symbol.asyncDispose]();
    await untilStats(queue, { active: 1, workers: 0 });
    expect(await store("next")).toBe("new");
    await engine.passTime(20_000);
    for (const clock of [Date, performance]) {
      const nowMs = clock.now() + 20_000;
      jest.spyOn(clock, "now").mockReturnValue(nowMs);
    }
    expect(await queue.health()).toMatchObject({ code: "NO_WORKER" });
    jest.restoreAllMocks();
    await expectWaiting(closing, finish);
    const counts = { waiting: 1, active: 0, delayed: 1, workers: 0 };
    expect(await queue.stats()).toMatchObject(counts);
    queue.work(handlers);
    await until(() => handled.length > 0);
    expect(handled).toEqual(["next"]);
  });

  it("a closed worker leaves nothing behind", async () => {
    for (let round = 0; round < 60; round++) {
      const worker = queue.work(handlers);
      for (let turns = round % 4; turns > 0; turns--) await nextTurn();
      const storing = [store(`${round} a`), store(`${round} b`)];
      for (let turns = round % 7; turns > 0; turns--) await nextTurn();
      await worker.close();
      await Promise.all(storing);
      const { active, waiting } = await queue.stats();
      const stored = handled.length + waiting;
      expect({ round, active, stored }).toEqual({ round, active: 0, stored: 2 * (round + 1) });
    }
    // The process may be one itself.
    const members = (await engine.listKept(0)).filter((kind) => kind === "member");
    expect(members.length).toBeLessThan(2);
  });

  it.each([false, true])(
    "a closing queue only finishes its workers, one of which is closing: %s",
    async (isWorkerClosing) => {
      const { worker, finish } = await startRunning();
      const workerClosed = isWorkerClosing ? worker.close() : undefined;
      const wait = () =>
        queue.outcomes.wait({ authenticatedAccount: "", challengeSid: "YC1", timeoutMs: 9_000 });
      const waiting = expectClosing(wait());
      const closing = queue.close();
      await waiting;
      await expectClosing(wait(), store("late"));
      expect(() => queue.work(handlers)).toThrow(isClosing);
      await expectWaiting(closing, finish);
      await Promise.all([workerClosed, queue.close()]);
      await expectClosing(...operate(queue));
      const counts = { waiting: 0, active: 0, workers: 0 };
      expect(await engine.open().stats()).toMatchObject(counts);
    },
  );

  it("a queue closes at its deadline although handlers run", async () => {
    const before = listConnections().length;
    const { worker, finish } = await startRunning();
    const workerClosed = worker.close({ deadlineMs: 60_000 });
    await queue.close({ deadlineMs: 200 });
    await workerClosed;
    await until(() => listConnections().length < before);
    finish();
    if (!engine.keepsRuns) return;
    // At once: it belongs to nobody.
    expect(await engine.listKept(0)).toContain("event");
    engine.open().work(handlers);
    await until(() => handled.length > 0);
  });

  it("a closing queue stores what is on its way", async () => {
    expect(() => queue.close({ deadline: 5 } as never)).toThrow(/deadlineMs/);
    engine.freeze.begin();
    const stored = Array.from({ length: 40 }, (_, index) => store(String(index)));
    const closing = [queue.close({ deadlineMs: 600_000 }), queue[Symbol.asyncDispose]()];
    await nextTurn();
    engine.freeze.end();
    expect(await Promise.all(stored)).toEqual(Array(40).fill("new"));
    await Promise.all(closing);
    await expectClosing(store("late"));
    expect(await engine.open().stats()).toMatchObject({ waiting: 40 });
  });

  const { outages, failures, freeze, kill } = engine;
  const states = [NONE, ...outages, ...failures].map((state) => [state.name, state, NONE] as const);
  const killed = kill ? [["is frozen, then killed", freeze, kill] as const] : [];

  it.each([...states, ...killed])("a process ends while the store %s", async (_, during, next) => {
    const child = await engine.startProcess(() => {});
    await during.begin();
    try {
      const exited = once(child, "exit");
      child.send("close");
      await once(child, "disconnect");
      await next.begin();
      expect(await exited).toEqual([0, null]);
    } finally {
      await next.end();
      await during.end();
    }
  });
}
