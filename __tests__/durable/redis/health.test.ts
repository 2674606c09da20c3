import { createHandlers } from "express-push-verification";
import { closeLater, storeFactor, untilStats } from "../../support/durable";
import { startRedis } from "../../support/redis";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";

describeRedisQueues("health() of a process with a worker", () => {
  afterEach(() => void jest.restoreAllMocks());

  it("is healthy while idle, and unhealthy within 30 s when the worker's connection is blocked", async () => {
    let passedMs = 0;
    for (const clock of [Date, performance]) {
      const now = clock.now.bind(clock);
      jest.spyOn(clock, "now").mockImplementation(() => now() + passedMs);
    }
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
    passedMs += 60_000;
    expect(await queue.health()).toEqual({ status: "healthy" });
    await storeFactor(queue, "a");
    passedMs += 14_000;
    expect(await queue.health()).toEqual({ status: "healthy" });
    passedMs += 2_000;
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "WORKER_STOPPED" });
    expect(handled).toBe(0);
    jest.restoreAllMocks();
    await queue.close({ deadlineMs: 0 });
    expect(await queue.health()).toMatchObject({ status: "unhealthy", code: "CLOSING" });
  });
});
