/** A receiver while the store of its queue is away; run on each engine. */
import { inspect } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { pushWebhooks, type PushWebhooks } from "express-push-verification";
import type { DurableQueue, QueueOptions } from "express-push-verification/durable";
import { silent } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { until } from "../support/redis";
import { send, startServer, stopServers } from "../support/servers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

/** Describes that webhook requests wait for the store, get 503 in time, and no event is lost. */
export function describeReceiverOutages(engine: StoppableEngine): void {
  let queue: DurableQueue;
  let push: PushWebhooks;
  let handled: string[];
  let port: number;
  let count = 0;

  async function receive(options: Partial<QueueOptions> = {}): Promise<void> {
    queue = engine.open({ logger: silent, ...options });
    push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue, logger: silent });
    handled = [];
    push.onAny(({ uuid }) => void handled.push(uuid));
    queue.work(push.handlers);
    port = await startServer((req, res) => void push(req, res));
  }
  const deliver = async () =>
    (await send(port, eventRequest("factor.created", { uuid: `u${count++}` }))).status;

  beforeEach(() => engine.start());
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    await stopServers();
    await engine.stop();
  });

  describe.each(engine.outages.map((outage) => [outage.name, outage] as const))(
    "while the store %s",
    (_name, { begin, end }) => {
      it("ready() rejects with CLOSING when the queue is closed", async () => {
        await begin();
        await receive();
        const closing = { code: "CLOSING", status: 503 };
        const rejected = expect(queue.ready()).rejects.toMatchObject(closing);
        await queue.close({ deadlineMs: 50 });
        await rejected;
      });

      it("from the start, a webhook request waits and is stored once it is back", async () => {
        await begin();
        await receive();
        const answered = deliver();
        await sleep(600);
        await end();
        const backMs = performance.now();
        expect(await answered).toBe(200);
        expect(performance.now() - backMs).toBeLessThan(4_000);
        await queue.ready();
        await until(() => handled.length === 1);
      });

      it("from the start, a webhook request gets 503 after storeTimeoutMs", async () => {
        await begin();
        await receive({ storeTimeoutMs: 400 });
        const startMs = performance.now();
        const answer = await send(port, eventRequest("factor.created"));
        expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
        expect(performance.now() - startMs).toBeLessThan(5_000);
      });

      it("a webhook request gets 503 in time", async () => {
        await receive({ storeTimeoutMs: 2_000 });
        await queue.ready();
        await begin();
        const startMs = performance.now();
        expect(await deliver()).toBe(503);
        // The default is 8 s.
        expect(performance.now() - startMs).toBeLessThan(7_000);
      });

      it("for a second, no webhook request fails and no event is lost", async () => {
        await receive();
        await queue.ready();
        expect(await deliver()).toBe(200);
        const answers: Promise<number>[] = [];
        const ended = Promise.resolve(begin())
          .then(() => sleep(1_000))
          .then(end);
        for (let sent = 0; sent < 60; sent++) {
          answers.push(deliver());
          await sleep(20);
        }
        await ended;
        expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
        await until(() => new Set(handled).size === 61, 20_000);
      }, 40_000);

      it("at most maxPending webhook requests wait", async () => {
        await begin();
        await receive({ storeTimeoutMs: 4_000, maxPending: 5 });
        const startMs = performance.now();
        const answers = await Promise.all(
          Array.from({ length: 10 }, async () => {
            const status = await deliver();
            return [status, performance.now() - startMs] as const;
          }),
        );
        expect(answers.every(([status]) => status === 503)).toBe(true);
        expect(answers.filter(([, ms]) => ms < 3_000).length).toBeGreaterThanOrEqual(5);
      });

      it("and the logger of the app throws, the process lives", async () => {
        const broken = () => {
          throw new Error("the logger is broken");
        };
        const warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
        await receive({ logger: { debug: broken, info: broken, warn: broken, error: broken } });
        await queue.ready();
        await begin();
        await until(() => warnings.mock.calls.length > 0);
        await end();
        expect(await deliver()).toBe(200);
        await until(() => handled.length === 1);
        expect(warnings.mock.calls).toContainEqual([
          expect.any(String),
          expect.objectContaining({ code: "LISTENER_FAILED" }),
        ]);
        warnings.mockRestore();
      });

      it("the queue closes within its deadline", async () => {
        await receive();
        await queue.ready();
        await begin();
        const startMs = performance.now();
        await queue.close({ deadlineMs: 300 });
        expect(performance.now() - startMs).toBeLessThan(5_000);
      });
    },
  );

  it("stores webhook requests that waited for a frozen store, each once", async () => {
    await receive();
    await queue.ready();
    await engine.freeze.begin();
    const answers = Array.from({ length: 20 }, deliver);
    await sleep(2_500);
    await engine.freeze.end();
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    await until(() => new Set(handled).size === 20, 20_000);
    expect(handled).toHaveLength(20);
  }, 40_000);

  for (const { name, error, begin, end } of engine.failures) {
    it(`responds 503 while the store ${name}, and 200 afterwards`, async () => {
      await receive({ storeTimeoutMs: 300 });
      await queue.ready();
      await begin();
      expect(await deliver()).toBe(503);
      await end();
      await until(async () => (await deliver()) === 200);
    });

    it(`reports an error without a parameter of the event while the store ${name}`, async () => {
      await receive({ storeTimeoutMs: 300 });
      await queue.ready();
      const reported: unknown[] = [];
      push.onRejected((...report) => void reported.push(report));
      await begin();
      const call = eventRequest("challenge.approved", {
        entity_identity: "hush-identity",
        factor_metadata: '{"a":"hush-metadata"}',
      });
      expect(await send(port, call)).toHaveProperty("status", 503);
      await end();
      const text = inspect(reported, { depth: 10, showHidden: true });
      expect(text).toContain("STORE_UNAVAILABLE");
      expect(text).toContain(error);
      expect(text).not.toMatch(/hush|args/);
    });
  }
}
