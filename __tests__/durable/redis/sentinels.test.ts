import { createHandlers } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, queuedParams } from "../../support/durable";
import { describeWithRedis } from "../../support/redis";
import { until } from "../../support/waiting";
import { startRedisProxy } from "../../support/redis-proxy";
import { useRedisQueues } from "../../support/redis-queues";
import { startSentinelGroup } from "../../support/redis-sentinel";

describeWithRedis("a failover", () => {
  const { open, closeLater } = useRedisQueues();

  it("that is announced while the queue asks a sentinel ends no connection for good", async () => {
    const { name, primary, sentinel, failOver } = await startSentinelGroup(1);
    const proxy = closeLater(await startRedisProxy(sentinel.port));
    const sentinels = [{ host: "127.0.0.1", port: proxy.port }];
    const queue = open({ sentinels, name }, { replicas: 0 });
    await queue.ready();

    void proxy.drop("get-master-addr-by-name");
    await primary.redis.call("CLIENT", "KILL", "TYPE", "normal");
    const announced = proxy.passes("+switch-master");
    await failOver();
    await announced;
    void proxy.drop();
    const event = queuedParams([["uuid", "after the failover"]]);
    expect(await queue.store(event, Number.POSITIVE_INFINITY)).toBe("new");
  });

  it("loses no event when the primary is replaced while it still runs", async () => {
    const { name, sentinel, failOver } = await startSentinelGroup(2);
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
    const queue = open({ sentinels, name });
    await queue.ready();
    const stored: string[] = [];
    const over = new AbortController();
    const lane = async (_: unknown, index: number) => {
      for (let count = 0; !over.signal.aborted; count++) {
        const uuid = `${index}-${count}`;
        const event = queuedEvent(eventFixture("factor.created", { uuid }));
        await queue.store(event, Number.POSITIVE_INFINITY).then(
          () => stored.push(uuid),
          () => {},
        );
      }
    };
    const lanes = Array.from({ length: 8 }, lane);
    await until(() => stored.length > 100);
    await failOver();
    const before = stored.length;
    await until(() => stored.length > before + 100);
    over.abort();
    await Promise.all(lanes);
    const handled = new Set<string>();
    queue.work(createHandlers().onAny(({ uuid }) => void handled.add(uuid)));
    await until(async () => {
      const { waiting, active } = await queue.stats();
      return waiting + active === 0;
    });
    expect(stored.filter((uuid) => !handled.has(uuid))).toEqual([]);
  });

  it("cannot lose an event while a replica that does not respond may be promoted", async () => {
    const { name, sentinel, replicas } = await startSentinelGroup(2);
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
    const connection = { sentinels, name };
    const queue = open(connection);
    const impatient = open(connection, { storeTimeoutMs: 1_500 });
    const store = (by: DurableQueue, uuid: string) =>
      by.store(queuedParams([["uuid", uuid]]), Number.POSITIVE_INFINITY);
    expect([await store(queue, "a"), await store(impatient, "b")]).toEqual(["new", "new"]);
    replicas[0]?.freeze();
    await expect(store(impatient, "c")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // After 5 s, no sentinel promotes it any more.
    expect(await store(queue, "d")).toBe("new");
    expect(await store(queue, "e")).toBe("new");
  });
});
