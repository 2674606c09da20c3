import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DURABLE, startRedis, type RedisServer } from "./redis";
import { until } from "./waiting";

/**
 * Starts a primary, this many replicas, and a sentinel that can make a replica the primary;
 * `stopRedis` ends them.
 */
export async function startSentinelGroup(size: number) {
  const name = "main";
  const primary = await startRedis({ ...DURABLE, "repl-diskless-sync-delay": "0" });
  const replicas: RedisServer[] = [];
  for (let index = 0; index < size; index++) {
    const replicaof = `127.0.0.1 ${primary.port}`;
    replicas.push(await startRedis({ ...DURABLE, replicaof, "repl-diskless-sync-delay": "0" }));
  }
  await until(async () => {
    const info = await primary.redis.info("replication");
    return info.match(/state=online/g)?.length === size;
  });
  const file = join(mkdtempSync(join(tmpdir(), "push-sentinel-")), "sentinel.conf");
  writeFileSync(file, `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1\n`);
  const sentinel = await startRedis({}, [file, "--sentinel"]);
  const ask = (command: string) => sentinel.redis.call("SENTINEL", command, name);
  await until(async () => ((await ask("replicas")) as unknown[]).length === size);
  return {
    name,
    primary,
    replicas,
    sentinel,
    /** Resolves with the port of the new primary. */
    async failOver() {
      // The sentinel rejects the command until it has seen the replicas alive.
      await until(() => ask("failover").then(Boolean, () => false));
      let port = primary.port;
      await until(async () => {
        [, port] = ((await ask("get-master-addr-by-name")) as string[]).map(Number) as [
          number,
          number,
        ];
        return port !== primary.port;
      });
      return port;
    },
  };
}
