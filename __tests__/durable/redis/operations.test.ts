import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { QUEUE_NAME as name, silent } from "../../support/durable";
import {
  collect,
  describeWithRedis,
  startRedis,
  stopRedis,
  type RedisServer,
} from "../../support/redis";

const OPERATIONS: [string, (queue: DurableQueue) => Promise<unknown>, unknown][] = [
  ["stats", (queue) => queue.stats(), expect.objectContaining({ waiting: 0, deadLetters: 0 })],
  ["deadLetters", (queue) => collect(queue.deadLetters()), []],
  ["retry", (queue) => queue.retry("a"), false],
  ["retryAll", (queue) => queue.retryAll(), 0],
  ["discard", (queue) => queue.discard("a"), false],
];

describeWithRedis("operations on a queue", () => {
  let server: RedisServer;
  let queue: DurableQueue;
  const open = (storeTimeoutMs?: number) => {
    const options = { name, connection: server.url, logger: silent };
    queue = redisQueue(storeTimeoutMs === undefined ? options : { ...options, storeTimeoutMs });
  };
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    await stopRedis();
  });

  it.each(OPERATIONS)(
    "%s() waits for a Redis that is down at the start",
    async (_name, run, value) => {
      await server.stop();
      open();
      const result = run(queue);
      await new Promise((later) => setTimeout(later, 300));
      await server.start();
      expect(await result).toEqual(value);
    },
  );

  it.each(OPERATIONS)("%s() rejects with STORE_UNAVAILABLE in an outage", async (_name, run) => {
    open(300);
    await queue.ready();
    await server.stop();
    const startMs = performance.now();
    await expect(run(queue)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      cause: { message: expect.stringMatching(/closed|ECONN/) },
    });
    expect(performance.now() - startMs).toBeLessThan(7_000);
  });

  it.each(OPERATIONS)("%s() rejects with CLOSING when the queue is closed", async (_name, run) => {
    open();
    await queue.ready();
    await queue.close();
    await expect(run(queue)).rejects.toMatchObject({ code: "CLOSING" });
  });
});
