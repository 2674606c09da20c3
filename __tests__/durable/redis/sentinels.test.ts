import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHandlers } from "express-push-verification";
import { closeLater, storeFactor } from "../../support/durable";
import { DURABLE, startRedis } from "../../support/redis";
import { describeOnRedis } from "../../support/redis-engine";
import { startRedisProxy } from "../../support/redis-proxy";
import { testSignal, until } from "../../support/waiting";

const name = "main";

describeOnRedis("a failover", (app) => {
  /** Starts replicas of the primary, and a sentinel that can make one of them the primary. */
  async function startGroup(size: number) {
    const { redis: primary, port } = app.server();
    await primary.config("SET", "repl-diskless-sync-delay", "0");
    const settings = { replicaof: `127.0.0.1 ${port}`, "repl-diskless-sync-delay": "0" };
    const starting = Array.from({ length: size }, () => startRedis({ ...DURABLE, ...settings }));
    const replicas = await Promise.all(starting);
    await until(async () => {
      const info = await primary.info("replication");
      return info.match(/state=online/g)?.length === size;
    });
    const folder = mkdtempSync(join(tmpdir(), "push-sentinel-"));
    closeLater({ close: () => rmSync(folder, { recursive: true }) });
    const file = join(folder, "sentinel.conf");
    writeFileSync(file, `sentinel monitor ${name} 127.0.0.1 ${port} 1\n`);
    const sentinel = await startRedis({}, [file, "--sentinel"]);
    const ask = (command: string) => sentinel.redis.call("SENTINEL", command, name);
    await until(async () => ((await ask("replicas")) as unknown[]).length === size);
    async function failOver(): Promise<void> {
      // The sentinel rejects the command until it has seen the replicas alive.
      await until(() => ask("failover").then(Boolean, () => false));
      await until(async () => {
        const [, primaryPort] = (await ask("get-master-addr-by-name")) as string[];
        return Number(primaryPort) !== port;
      });
    }
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }];
    return { sentinel, replicas, connection: { sentinels, name }, failOver };
  }

  it("that is announced while the queue asks a sentinel ends no connection for good", async () => {
    const { sentinel, failOver } = await startGroup(1);
    const proxy = closeLater(await startRedisProxy(sentinel.port));
    const sentinels = [{ host: "127.0.0.1", port: proxy.port }];
    const queue = app.open({ connection: { sentinels, name }, replicas: 0 });
    await queue.ready();

    void proxy.drop("get-master-addr-by-name");
    await app.server().redis.call("CLIENT", "KILL", "TYPE", "normal");
    const announced = proxy.passes("+switch-master");
    await failOver();
    await announced;
    void proxy.drop();
    expect(await storeFactor(queue, "after the failover")).toBe("new");
  });

  it("loses no event when the primary is replaced while it still runs", async () => {
    const { connection, failOver } = await startGroup(2);
    const queue = app.open({ connection });
    await queue.ready();
    const stored: string[] = [];
    const ended = testSignal();
    const over = new AbortController();
    const lanes = Array.from({ length: 8 }, async (_, index) => {
      for (let count = 0; !over.signal.aborted && !ended.aborted; count++) {
        const uuid = `${index}-${count}`;
        const result = await storeFactor(queue, uuid).catch(() => undefined);
        if (result !== undefined) stored.push(uuid);
      }
    });
    await until(() => stored.length > 100);
    await failOver();
    const before = stored.length;
    await until(() => stored.length > before + 100);
    over.abort();
    await Promise.all(lanes);
    const handled = new Set<string>();
    queue.work(createHandlers().onAny(({ uuid }) => void handled.add(uuid)));
    await until(() => stored.every((uuid) => handled.has(uuid)));
  });

  it("cannot lose an event while a replica that does not respond may be promoted", async () => {
    const { connection, replicas } = await startGroup(2);
    const queue = app.open({ connection });
    const impatient = app.open({ connection, storeTimeoutMs: 1_500 });
    await storeFactor(queue, "before");
    await impatient.ready();
    replicas[0]?.freeze();
    const late = storeFactor(impatient, "late");
    await expect(late).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    // After 5 s, no sentinel promotes it any more.
    for (const uuid of ["a", "b"]) expect(await storeFactor(queue, uuid)).toBe("new");
  });
});
