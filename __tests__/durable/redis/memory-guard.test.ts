import fc from "fast-check";
import { createHandlers, WebhookError } from "express-push-verification";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { createMemoryGuard } from "../../../lib/durable/redis/memory-guard";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";
import { QUEUE_NAME as name, queuedEvent, silent } from "../../support/durable";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../../support/redis";

const isMemoryReason = (reason: unknown) =>
  reason instanceof WebhookError &&
  reason.code === "STORE_UNAVAILABLE" &&
  reason.cause instanceof Error &&
  /^Redis uses (8[5-9]|9\d) % of its maxmemory/.test(reason.cause.message);
const ignore = { onError: () => {} };

describeWithRedis("a Redis with a maxmemory", () => {
  let server: RedisServer;
  let queue: DurableQueue;
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  beforeEach(async () => {
    server = await startRedis();
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    queue = redisQueue({ name, connection: server.url, storeTimeoutMs: 1_000, logger });
    await queue.ready();
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    await stopRedis();
  });

  const store = (uuid: string, size = 100_000, by = queue) => {
    const factor_friendly_name = "x".repeat(size);
    const event = eventFixture("factor.created", { uuid, factor_friendly_name });
    return by.store(queuedEvent(event), Number.POSITIVE_INFINITY);
  };
  const usedBytes = async () =>
    Number((/^used_memory:(\d+)/m.exec(await server.redis.info("memory")) ?? [])[1]);
  const setLimit = (bytes: number) => server.redis.config("SET", "maxmemory", String(bytes));

  it("stores a large event after small ones, and more after it", async () => {
    await setLimit(40_000_000);
    for (const [uuid, size] of [
      ["a", 10],
      ["b", 10],
      // Nearly 1 % of maxmemory by itself.
      ["c", 131_000],
      ["d", 10],
    ] as const) {
      expect(await store(uuid, size)).toBe("new");
    }
  });

  it("admits or rejects every event, of any size, near 85 %", async () => {
    const limitBytes = Math.round((await usedBytes()) / 0.82);
    await setLimit(limitBytes);
    const settings = resolveRedisOptions({ name, connection: server.url, logger: silent });
    const sizes = fc.array(fc.integer({ min: 2_000, max: 22_000 }), { minLength: 10 });
    await fc.assert(
      fc.asyncProperty(sizes, async (events) => {
        const guard = createMemoryGuard(server.redis, settings);
        await guard.admit(1);
        const ends = events.map(async (bytes) => guard.admit(bytes));
        expect(await Promise.allSettled(ends)).toHaveLength(events.length);
      }),
      { numRuns: 300 },
    );
  });

  it("stores no event from 85 % on, and again when workers have drained the queue", async () => {
    await setLimit((await usedBytes()) + 20_000_000);
    let stored = 0;
    let reason: unknown;
    // On a busy machine a store may also exceed its time: then the same one again.
    while (!isMemoryReason(reason)) {
      reason = await store(`u${stored}`).then(
        () => void stored++,
        (error: unknown) => error,
      );
    }
    expect(logger.error.mock.calls).toEqual([
      [expect.anything(), expect.stringContaining("maxmemory")],
    ]);

    let handled = 0;
    queue.work(createHandlers().onAny(() => void handled++));
    await until(() => handled >= stored, 40_000);
    await until(() => store("after").then(Boolean, () => false), 20_000);
    expect(logger.info).toHaveBeenCalledWith({}, expect.stringContaining("memory again"));
  }, 120_000);

  it.each([
    [1, 6_000_000, 500, 2_000],
    [3, 12_000_000, 200, 2_000],
  ])(
    "keeps memory for workers while %d processes fill %d bytes, with %d stores of each in flight",
    async (processes, limitBytes, inFlight, size) => {
      await setLimit(limitBytes);
      const others = Array.from({ length: processes - 1 }, () =>
        redisQueue({ name, connection: server.url, storeTimeoutMs: 1_000, logger: silent }),
      );
      const stored = new Set<string>();
      let index = 0;
      async function storeUntilFull(by: DurableQueue): Promise<void> {
        for (let reason: unknown; !isMemoryReason(reason);) {
          const uuid = `u${index++}`;
          reason = await store(uuid, size, by).then(
            () => void stored.add(uuid),
            (error: unknown) => error,
          );
        }
      }
      const queues = [queue, ...others];
      const lanes = queues.flatMap((by) => Array.from({ length: inFlight }, () => by));
      await Promise.all(lanes.map(storeUntilFull));
      expect((await usedBytes()) / limitBytes).toBeGreaterThan(0.7);
      expect((await usedBytes()) / limitBytes).toBeLessThan(0.95);
      queue.work(createHandlers().onAny(({ uuid }) => void stored.delete(uuid)));
      await until(() => stored.size === 0, 20_000);
      for (const other of others) await other.close({ deadlineMs: 200 });
    },
    60_000,
  );

  it("logs one shortage while workers make room and events fill it again", async () => {
    await setLimit((await usedBytes()) + 20_000_000);
    queue.work(
      createHandlers().onAny(() => new Promise((resolve) => void setTimeout(resolve, 20))),
      { concurrency: 8 },
    );
    let index = 0;
    const endMs = performance.now() + 5_000;
    async function storeOn(): Promise<void> {
      while (performance.now() < endMs) await store(`u${index++}`, 20_000).catch(() => {});
    }
    await Promise.all(Array.from({ length: 32 }, storeOn));
    expect(logger.error.mock.calls).toHaveLength(1);
  }, 60_000);

  it("that is full shows that workers take no events", async () => {
    queue.work(
      createHandlers().onAny(() => {}),
      ignore,
    );
    await until(async () => (await queue.stats()).workers === 1);
    await setLimit(1_000_000);
    await until(async () => (await queue.stats()).workers === 0, 40_000);
    await until(() => logger.error.mock.calls.some(([, text]) => /worker.*OOM/.test(String(text))));
    await setLimit(0);
    await until(async () => (await queue.stats()).workers === 1, 40_000);
  }, 120_000);
});
