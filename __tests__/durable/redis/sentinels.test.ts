import { createHandlers } from "express-push-verification";
import { closeLater, storeFactor, untilStats } from "../../support/durable";
import { describeRedisQueues, openRedisQueue } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { startSentinelGroup } from "../../support/redis-sentinel";
import { until } from "../../support/waiting";

describeRedisQueues("a failover", () => {
  it("that is announced while the queue asks a sentinel ends no connection for good", async () => {
    const { name, primary, sentinel, failOver } = await startSentinelGroup(1);
    const proxy = closeLater(await startRedisProxy(sentinel.port));
    const sentinels = [{ host: "127.0.0.1", port: proxy.port }];
    const queue = openRedisQueue({ sentinels, name }, { replicas: 0 });
    await queue.ready();

    void proxy.drop("get-master-addr-by-name");
    await primary.redis.call("CLIENT", "KILL", "TYPE", "normal");
    const announced = proxy.passes("+switch-master");
    await failOver();
    await announced;
    void proxy.drop();
    expect(await storeFactor(queue, "after the failover")).toBe("new");
  });

  it("loses no event when the primary is replaced while it still runs", async () => {
    const { name, sentinel, failOver } = await startSentinelGroup(2);
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
    const queue = openRedisQueue({ sentinels, name });
    await queue.ready();
    const stored: string[] = [];
    const over = new AbortController();
    const lane = async (_: unknown, index: number) => {
      for (let count = 0; !over.signal.aborted; count++) {
        const uuid = `${index}-${count}`;
        await storeFactor(queue, uuid).then(
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
    await untilStats(queue, { waiting: 0, active: 0 });
    expect(stored.filter((uuid) => !handled.has(uuid))).toEqual([]);
  });

  it("cannot lose an event while a replica that does not respond may be promoted", async () => {
    const { name, sentinel, replicas } = await startSentinelGroup(2);
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
    const connection = { sentinels, name };
    const queue = openRedisQueue(connection);
    const impatient = openRedisQueue(connection, { storeTimeoutMs: 1_500 });
    for (const one of [queue, impatient]) await storeFactor(one, "before");
    replicas[0]?.freeze();
    const late = storeFactor(impatient, "late");
    await expect(late).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // After 5 s, no sentinel promotes it any more.
    for (const uuid of ["a", "b"]) expect(await storeFactor(queue, uuid)).toBe("new");
  });
});
