import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { QUEUE_NAME as name, silent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { collect } from "../../support/waiting";

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

  const runAll = () => OPERATIONS.map(([, run]) => run(queue));

  it("wait for a Redis that is down at the start", async () => {
    await server.stop();
    open();
    const results = Promise.all(runAll());
    await server.start();
    expect(await results).toEqual(OPERATIONS.map(([, , value]) => value));
  });

  it("reject with STORE_UNAVAILABLE in an outage", async () => {
    open(300);
    await queue.ready();
    await server.stop();
    for (const result of await Promise.allSettled(runAll())) {
      expect(result).toMatchObject({
        reason: {
          code: "STORE_UNAVAILABLE",
          cause: { message: expect.stringMatching(/closed|ECONN/) },
        },
      });
    }
  });

  it("reject with CLOSING when the queue is closed", async () => {
    open();
    await queue.ready();
    await queue.close();
    for (const result of await Promise.allSettled(runAll())) {
      expect(result).toMatchObject({ reason: { code: "CLOSING" } });
    }
  });
});
