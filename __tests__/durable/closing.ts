/** Closing workers and queues; run on each engine. */
import { createHandlers } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { createSlowHandlers, operate, storeFactor, untilStats } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { nextTurn, until } from "../support/waiting";

/** Describes the closing of a queue and its workers. */
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
    queue = engine.open();
    await queue.ready();
  });

  /** Starts a worker whose handlers of a stored event run until `finish`. */
  async function startRunning() {
    const { handlers: slow, finish } = createSlowHandlers();
    const worker = queue.work(slow);
    await store("slow");
    await untilStats(queue, { active: 1 });
    return { worker, finish };
  }

  /** Asserts that something closes only after the handlers have finished. */
  async function expectWaiting(closing: Promise<unknown>, finish: () => void): Promise<void> {
    let isClosed = false;
    const closed = closing.then(() => (isClosed = true));
    await nextTurn();
    expect(isClosed).toBe(false);
    finish();
    await closed;
  }

  it("a worker finishes its running handlers, and the queue goes on storing", async () => {
    const { worker, finish } = await startRunning();
    await expectWaiting(worker.close(), finish);
    expect(await store("next")).toBe("new");
    expect(await queue.stats()).toMatchObject({ waiting: 1, active: 0, workers: 0 });
    queue.work(handlers);
    await until(() => handled.length > 0);
    expect(handled).toEqual(["next"]);
  });

  it("a worker leaves no event active, whenever it is closed", async () => {
    for (let round = 0; round < 60; round++) {
      const worker = queue.work(handlers);
      for (let turns = round % 4; turns > 0; turns--) await nextTurn();
      const storing = [store(`${round} a`), store(`${round} b`)];
      for (let turns = round % 7; turns > 0; turns--) await nextTurn();
      await worker.close();
      await Promise.all(storing);
      const { active, waiting } = await queue.stats();
      expect([active, handled.length + waiting]).toEqual([0, 2 * (round + 1)]);
    }
  });

  it.each([false, true])(
    "a queue rejects all else with 503, and finishes its workers; one is closing: %s",
    async (isWorkerClosing) => {
      const { worker, finish } = await startRunning();
      const workerClosed = isWorkerClosing ? worker.close() : undefined;
      const wait = () =>
        queue.outcomes.wait({ account: "", challengeSid: "YC1", timeoutMs: 9_000 });
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

  it("a queue awaits no handler beyond its deadline, also of a worker that is closing", async () => {
    const { worker, finish } = await startRunning();
    const workerClosed = worker.close({ deadlineMs: 60_000 });
    await queue.close({ deadlineMs: 200 });
    await workerClosed;
    await until(async () => (await engine.countConnections()) === 0);
    finish();
  });

  it("await using closes a worker and a queue", async () => {
    await queue.work(handlers)[Symbol.asyncDispose]();
    await store("kept");
    expect(await queue.stats()).toMatchObject({ waiting: 1 });
    await queue[Symbol.asyncDispose]();
    await expectClosing(store("late"));
    expect(handled).toEqual([]);
  });

  it("rejects options that do not exist", () => {
    for (const { close } of [queue.work(handlers), queue]) {
      expect(() => close({ deadline: 5 } as never)).toThrow(/deadlineMs/);
    }
  });

  it("a queue stores first what is on its way", async () => {
    engine.freeze.begin();
    const stored = Array.from({ length: 40 }, (_, index) => store(String(index)));
    const closing = queue.close();
    await nextTurn();
    engine.freeze.end();
    expect(await Promise.all(stored)).toEqual(Array(40).fill("new"));
    await closing;
    expect(await engine.open().stats()).toMatchObject({ waiting: 40 });
  });
}
