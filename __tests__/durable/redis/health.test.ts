import { createHandlers } from "express-push-verification";
import { closeLater, storeFactor, untilStats } from "../../support/durable";
import { startRedis } from "../../support/redis";
import { describeWithRedises, openRedisQueue } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";

/** Fakes the clocks; timers stay real. */
const CLOCK = {
  doNotFake: [
    ...(["hrtime", "nextTick", "queueMicrotask"] as const),
    ...(["setImmediate", "setInterval", "setTimeout"] as const),
    ...(["clearImmediate", "clearInterval", "clearTimeout"] as const),
  ],
};

describeWithRedises("health() of a process with a worker", () => {
  afterEach(() => void jest.useRealTimers());

  it("is healthy while idle, and unhealthy within 30 s when the worker's connection is blocked", async () => {
    // Fake the clocks before the queue starts: the fake clock of performance begins at 0.
    jest.useFakeTimers({ now: Date.now(), ...CLOCK });
    const server = await startRedis();
    const proxy = closeLater(await startRedisProxy(server.port));
    const queue = openRedisQueue(proxy.url);
    await queue.ready();
    // The command with which the worker waits for the next event.
    const blocked = proxy.drop("bzpopmin");
    let handled = 0;
    queue.work(createHandlers().onAny(() => handled++));
    await blocked;
    await untilStats(queue, { workers: 1 });
    jest.advanceTimersByTime(60_000);
    expect(await queue.health()).toEqual({ status: "healthy" });
    await storeFactor(queue, "a");
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
