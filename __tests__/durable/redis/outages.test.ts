import { createHandlers } from "express-push-verification";
import { closeLater, receiveInto, silent } from "../../support/durable";
import { DURABLE, startRedis } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { until } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { eventRequest } from "../../support/webhook-requests";

describeRedisQueues("a Redis that returns", () => {
  const warnings = useWarnings();

  it("stores a webhook request that waited until it had loaded", async () => {
    const server = await startRedis();
    await Promise.all(Array.from({ length: 30 }, (_, key) => server.redis.set(`k${key}`, "x")));
    const { queue, deliver } = await receiveInto(openRedisQueue(server.url));
    let count = 0;
    queue.work(createHandlers().onAny(() => void count++));
    await queue.ready();
    await server.stop();
    await server.start({ ...DURABLE, "key-load-delay": "50000" });
    expect(await deliver(eventRequest("factor.created"))).toBe(200);
    await until(() => count === 1);
  });

  it("is one outage behind a proxy that accepts and closes connections meanwhile", async () => {
    const server = await startRedis();
    const proxy = closeLater(await startRedisProxy(server.port));
    const logger = { ...silent, warn: jest.fn(), info: jest.fn() };
    const queue = openRedisQueue(proxy.url, { logger });
    await queue.ready();
    await server.stop("SIGKILL");
    await until(() => logger.warn.mock.calls.length > 0);
    await proxy.closes(3);
    await server.start();
    await until(() => logger.info.mock.calls.length > 0);
    await queue.stats();
    await new Promise(setImmediate);
    expect([logger.warn.mock.calls.length, logger.info.mock.calls.length]).toEqual([1, 1]);
  });

  it("warns the process once when there is no logger", async () => {
    const server = await startRedis();
    const queue = openRedisQueue(server.url, { logger: undefined });
    await queue.ready();
    for (const outage of [1, 2]) {
      await server.stop("SIGKILL");
      await until(() => warnings.list().length === outage);
      await server.start();
      await until(() => queue.stats().then(Boolean, () => false));
    }
    const warning = [
      expect.stringMatching(/^Redis cannot be used: /),
      { type: "PushWebhooksWarning", code: "REDIS_UNREACHABLE" },
    ];
    expect(warnings.list()).toEqual([warning, warning]);
  });
});
