import { queuedParams } from "../../support/durable";
import { describeWithRedis } from "../../support/redis";
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

    proxy.drop("get-master-addr-by-name");
    await primary.redis.call("CLIENT", "KILL", "TYPE", "normal");
    const announced = proxy.passes("+switch-master");
    await failOver();
    await announced;
    proxy.drop();
    const event = queuedParams([["uuid", "after the failover"]]);
    expect(await queue.store(event, Number.POSITIVE_INFINITY)).toBe("new");
  });
});
