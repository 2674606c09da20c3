/** A receiver while the store of its queue is away; run on each engine. */
import { inspect } from "node:util";
import type { QueueOptions } from "express-push-verification/durable";
import { operate, receiveInto, silent } from "../support/durable";
import { loggerOf } from "../support/receivers";
import type { StoppableEngine } from "../support/engine";
import { send } from "../support/servers";
import { countTime, testSignal, until } from "../support/waiting";
import { useWarnings } from "../support/warnings";
import { eventRequest } from "../support/webhook-requests";

const LOST = { sqlite: "QUEUE_FILE", postgres: "POSTGRES_UNREACHABLE", redis: "REDIS_UNREACHABLE" };

export function describeReceiverOutages(engine: StoppableEngine): void {
  countTime();
  const warnings = useWarnings();
  const lost = LOST[engine.kind];
  let handled: string[];
  let logged: string[];
  const log = ({ code }: { code?: string }) => void (code !== undefined && logged.push(code));
  const logger = { ...silent, warn: log, error: log };

  async function receive(options: Partial<QueueOptions> = {}) {
    // A store may take more than the usual 14 s to return.
    const receiver = await receiveInto(engine.open(options), { deadlineMs: 120_000 });
    receiver.push.onAny(({ uuid }) => void handled.push(uuid));
    const deliver = (uuid: string) => receiver.deliver(eventRequest("factor.created", { uuid }));
    return { ...receiver, deliver };
  }

  beforeEach(() => {
    handled = [];
    logged = [];
  });

  describe.each(engine.outages)("a store that $name", (outage) => {
    afterEach(() => expect(logged.filter((code) => code !== lost)).toEqual([]));

    it("at the start: webhook requests wait for it until their deadline", async () => {
      await outage.begin();
      const app = await receive({ maxPending: 5, logger });
      app.queue.work(app.push.handlers);
      const operations = Promise.all(operate((await receive()).queue));
      const statuses: number[] = [];
      const sent = Array.from({ length: 10 }, async (_, index) => {
        statuses.push(await app.deliver(`u${index}`));
      });
      // No more than maxPending wait.
      await until(() => statuses.length === 5);

      const hurried = await receive({ storeTimeoutMs: 400 });
      const { status, headers } = await send(hurried.port, eventRequest("factor.created"));
      expect({ status, "retry-after": headers.get("retry-after") }).toEqual({
        status: 503,
        "retry-after": "5",
      });

      const closed = await receive();
      const closing = { code: "CLOSING", status: 503 };
      const rejected = expect(closed.queue.ready()).rejects.toMatchObject(closing);
      await closed.queue.close();
      await rejected;

      await outage.end();
      await Promise.all(sent);
      expect(statuses).toEqual([503, 503, 503, 503, 503, 200, 200, 200, 200, 200]);
      await app.queue.ready();
      expect(await operations).toHaveLength(5);
      await until(() => new Set(handled).size >= 5);
    });

    it("health is degraded until it returns", async () => {
      const { push } = await receive({ logger });
      const isHealthy = async () => (await push.health()).status === "healthy";
      await until(isHealthy);
      const beganAtMs = Date.now();
      await outage.begin();
      await until(async () => !(await isHealthy()));
      const { since, ...health } = await push.health();
      const reason = expect.stringMatching(/\S/) as string;
      expect(health).toEqual({ status: "degraded", code: "STORE_UNAVAILABLE", reason });
      expect(Number(since)).toBeGreaterThanOrEqual(beganAtMs);
      await outage.end();
      await until(isHealthy);
    });

    it("later: every event is received and handled", async () => {
      const fails = () => {
        throw new Error("the logger is broken");
      };
      const app = await receive({ logger: loggerOf(fails) });
      const hurried = await receive({ storeTimeoutMs: 500 });
      const closing = await receive();
      for (const { queue } of [app, hurried, closing]) await queue.ready();
      app.queue.work(app.push.handlers);
      const stored: string[] = [];
      const ended = testSignal();
      const ending = new AbortController();
      const lanes = [0, 1, 2, 3].map(async (lane) => {
        for (let count = 0; !ending.signal.aborted && !ended.aborted; count++) {
          const uuid = `${lane}-${count}`;
          expect({ uuid, status: await app.deliver(uuid) }).toEqual({ uuid, status: 200 });
          stored.push(uuid);
        }
      });
      await until(() => stored.length > 10);
      await outage.begin();
      expect(await hurried.deliver("late")).toBe(503);
      // A locked file can still be read.
      for (const result of engine.kill ? await Promise.allSettled(operate(hurried.queue)) : []) {
        expect(result).toMatchObject({ reason: { code: "STORE_UNAVAILABLE" } });
      }
      await closing.queue.close({ deadlineMs: 300 });
      // The process lives although the logger of the app throws.
      await until(() => warnings.listCodes().includes("LISTENER_FAILED"));
      await outage.end();
      const before = stored.length;
      await until(() => stored.length > before + 4);
      ending.abort();
      await Promise.all(lanes);
      await until(() => stored.every((uuid) => handled.includes(uuid)));
      // A crash may undo the end of a run.
      if (outage.name === engine.freeze.name && engine.keepsRuns) {
        expect(handled).toHaveLength(new Set(handled).size);
      }
    });
  });

  for (const { name, error, begin, end } of engine.failures) {
    it(`a store that ${name} is reported without a parameter of the event`, async () => {
      const { push, queue, port, deliver } = await receive({
        storeTimeoutMs: 2_000,
        logger,
      });
      await queue.ready();
      const reported: unknown[] = [];
      push.onRejected((...report) => void reported.push(report));
      await begin();
      const request = eventRequest("challenge.approved", {
        entity_identity: "hush-identity",
        factor_metadata: '{"a":"hush-metadata"}',
      });
      expect(await send(port, request)).toHaveProperty("status", 503);
      const text = inspect(reported, { depth: 10, showHidden: true });
      expect(text).toContain("STORE_UNAVAILABLE");
      expect(text).toContain(error);
      expect(text).not.toMatch(/hush|args/);
      expect(logged[0]).toBe(lost);
      await end();
      let count = 0;
      await until(async () => (await deliver(`u${count++}`)) === 200);
    });
  }
}
