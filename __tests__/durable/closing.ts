/** Closing workers and queues; run on each engine. */
import { createHandlers, pushWebhooks } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import {
  AUTH_TOKEN as authToken,
  eventRequest,
  PUBLIC_URL as publicUrl,
} from "../support/webhook-requests";
import { createSlowHandlers, operate, silent, storeFactor, untilStats } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { nextTurn, until } from "../support/waiting";
import { closeServers, send, startServer } from "../support/servers";

/** Describes the closing of a queue and its workers. */
export function describeClosing(engine: StoppableEngine): void {
  let queue: DurableQueue;
  const store = (uuid: string, into = queue) => storeFactor(into, uuid);

  beforeEach(async () => {
    queue = engine.open();
    await queue.ready();
  });

  /** Starts a worker whose handlers of a stored event run until `finish`. */
  async function startRunning() {
    const { handlers, handled, finish } = createSlowHandlers();
    const worker = queue.work(handlers);
    await store("slow");
    await untilStats(queue, { active: 1 });
    return { worker, handlers, handled, finish };
  }

  it("a worker finishes its running handlers, and the queue goes on storing", async () => {
    const { worker, handlers, handled, finish } = await startRunning();
    let isClosed = false;
    const closing = worker.close().then(() => (isClosed = true));
    await nextTurn();
    expect(isClosed).toBe(false);
    finish();
    await closing;
    expect(await store("next")).toBe("new");
    expect(await queue.stats()).toMatchObject({ waiting: 1, active: 0, workers: 0 });
    queue.work(handlers);
    await until(() => handled.includes("next"));
    expect(handled).toEqual(["slow", "next"]);
  });

  it("a worker leaves no event active, whenever it is closed", async () => {
    const handled: string[] = [];
    for (let round = 0; round < 60; round++) {
      const worker = queue.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
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
      const { worker, handlers, finish } = await startRunning();
      const workerClosed = isWorkerClosing ? worker.close() : undefined;
      const wait = () =>
        expect(queue.outcomes.wait({ account: "", challengeSid: "YC1", timeoutMs: 9_000 })).rejects;
      const waiting = wait().toHaveProperty("code", "CLOSING");
      let isClosed = false;
      const closing = queue.close().then(() => (isClosed = true));
      await waiting;
      await wait().toHaveProperty("code", "CLOSING");
      await expect(store("late")).rejects.toMatchObject({ code: "CLOSING", status: 503 });
      expect(() => queue.work(handlers)).toThrow(expect.objectContaining({ code: "CLOSING" }));
      await nextTurn();
      expect(isClosed).toBe(false);
      finish();
      await Promise.all([closing, workerClosed, queue.close()]);
      for (const result of await Promise.allSettled(operate(queue))) {
        expect(result).toMatchObject({ reason: { code: "CLOSING" } });
      }
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
    const handled: string[] = [];
    const other = engine.open();
    await other.ready();
    const worker = other.work(createHandlers().onAny(({ uuid }) => void handled.push(uuid)));
    await worker[Symbol.asyncDispose]();
    await store("kept", other);
    expect([handled, await other.stats()]).toMatchObject([[], { waiting: 1 }]);
    await other[Symbol.asyncDispose]();
    await expect(store("late", other)).rejects.toHaveProperty("code", "CLOSING");
  });

  it("rejects options that do not exist", () => {
    const worker = queue.work(createHandlers().onAny(() => {}));
    for (const { close } of [worker, queue]) {
      expect(() => close({ deadline: 5 } as never)).toThrow(/deadlineMs/);
    }
  });

  it("server, receiver, worker and queue in this order lose no request in flight", async () => {
    const handled = new Set<string>();
    const push = pushWebhooks({ authToken, publicUrl, queue, logger: silent });
    push.onAny(async ({ uuid }) => {
      await nextTurn();
      handled.add(uuid);
    });
    const worker = queue.work(push.handlers, { concurrency: 4 });
    let received = 0;
    const port = await startServer((req, res) => {
      received++;
      void push(req, res);
    });
    engine.freeze.begin();
    const sent = Array.from({ length: 40 }, async (_, index) => {
      const uuid = `in-flight-${index}`;
      const { status } = await send(port, eventRequest("factor.created", { uuid }));
      return { uuid, status };
    });
    await until(() => received === 40);
    closeServers();
    const closing = push
      .close()
      .then(() => worker.close())
      .then(() => queue.close());
    await nextTurn();
    engine.freeze.end();
    const responses = await Promise.all(sent);
    await closing;
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

    engine.open().work(push.handlers);
    await until(() => handled.size === 40);
  });
}
