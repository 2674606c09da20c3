import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithRedis, startRedis } from "../../support/redis";
import { until } from "../../support/waiting";
import { startRedisProxy } from "../../support/redis-proxy";
import { useRedisQueues } from "../../support/redis-queues";

/** Fakes the clocks; timers stay real. */
const CLOCK = {
  doNotFake: [
    ...(["hrtime", "nextTick", "queueMicrotask"] as const),
    ...(["setImmediate", "setInterval", "setTimeout"] as const),
    ...(["clearImmediate", "clearInterval", "clearTimeout"] as const),
  ],
};

describeWithRedis("health() of a process with a worker", () => {
  const queues = useRedisQueues();
  afterEach(() => void jest.useRealTimers());

  it("is healthy while idle, and unhealthy within 30 s when the worker's connection is blocked", async () => {
    // Fake the clocks before the queue starts: the fake clock of performance begins at 0.
    jest.useFakeTimers({ now: Date.now(), ...CLOCK });
    const server = await startRedis();
    const proxy = queues.closeLater(await startRedisProxy(server.port));
    const queue = queues.open(proxy.url, { logger: silent });
    await queue.ready();
    // The command with which the worker waits for the next event.
    const blocked = proxy.drop("bzpopmin");
    let handled = 0;
    queue.work(createHandlers().onAny(() => handled++));
    await blocked;
    await until(async () => (await queue.stats()).workers === 1);
    jest.advanceTimersByTime(60_000);
    expect(await queue.health()).toEqual({ status: "healthy" });
    await queue.store(queuedEvent(eventFixture("factor.created")), Number.POSITIVE_INFINITY);
    jest.advanceTimersByTime(14_000);
    expect(await queue.health()).toEqual({ status: "healthy" });
    jest.advanceTimersByTime(2_000);
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "WORKER_STOPPED" });
    expect(handled).toBe(0);
    jest.useRealTimers();
    await queue.close({ deadlineMs: 0 });
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
  });
});
