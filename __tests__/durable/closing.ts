/** Closing workers and queues; run on each engine. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHandlers, pushWebhooks } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { createSlowHandlers, operate, queuedEvent, silent } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { until } from "../support/waiting";
import { send } from "../support/servers";

/** One turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Describes the closing of a queue and its workers. */
export function describeClosing(engine: StoppableEngine): void {
  let queue: DurableQueue;
  const openQueue = () => engine.open({ logger: silent });

  beforeEach(async () => {
    await engine.start();
    queue = openQueue();
    await queue.ready();
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    await engine.stop();
  });
  const store = (uuid: string, into = queue) =>
    into.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);

  /** Starts a worker whose handlers of a stored event run until `finish`. */
  async function startRunning() {
    const { handlers, handled, finish } = createSlowHandlers();
    const worker = queue.work(handlers);
    await store("slow");
    await until(async () => (await queue.stats()).active === 1);
    return { worker, handlers, handled, finish };
  }

  it("a worker finishes its running handlers, and the queue goes on storing", async () => {
    const { worker, handlers, handled, finish } = await startRunning();
    let isClosed = false;
    const closing = worker.close().then(() => (isClosed = true));
    await turn();
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
      for (let turns = round % 4; turns > 0; turns--) await turn();
      const storing = [store(`${round} a`), store(`${round} b`)];
      for (let turns = round % 7; turns > 0; turns--) await turn();
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
      let isClosed = false;
      const closing = queue.close().then(() => (isClosed = true));
      await expect(store("late")).rejects.toMatchObject({ code: "CLOSING", status: 503 });
      expect(() => queue.work(handlers)).toThrow(expect.objectContaining({ code: "CLOSING" }));
      await turn();
      expect(isClosed).toBe(false);
      finish();
      await Promise.all([closing, workerClosed, queue.close()]);
      for (const result of await Promise.allSettled(operate(queue))) {
        expect(result).toMatchObject({ reason: { code: "CLOSING" } });
      }
      const other = openQueue();
      expect(await other.stats()).toMatchObject({ waiting: 0, active: 0, workers: 0 });
      await other.close();
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
    const other = openQueue();
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
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      queue,
      logger: silent,
    });
    push.onAny(async ({ uuid }) => {
      await turn();
      handled.add(uuid);
    });
    const worker = queue.work(push.handlers, { concurrency: 4 });
    let received = 0;
    const web = createServer((req, res) => {
      received++;
      void push(req, res);
    }).listen(0, "127.0.0.1");
    await once(web, "listening");
    const { port } = web.address() as AddressInfo;
    engine.freeze.begin();
    const sent = Array.from({ length: 40 }, async (_, index) => {
      const uuid = `in-flight-${index}`;
      const { status } = await send(port, eventRequest("factor.created", { uuid }));
      return { uuid, status };
    });
    await until(() => received === 40);
    web.close();
    const closing = push
      .close()
      .then(() => worker.close())
      .then(() => queue.close());
    await turn();
    engine.freeze.end();
    const responses = await Promise.all(sent);
    await closing;
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));

    const next = openQueue();
    next.work(push.handlers);
    await until(() => handled.size === 40);
    await next.close();
  });
}
