import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { needs } from "./needs";
import { has } from "./platform";
import { findFreePort, untilListening } from "./ports";

const binary = has("signals") ? (process.env.PUSH_TEST_REDIS_SERVER ?? "") : "";

export const { describe: describeWithRedis, it: itWithRedis } = needs(
  binary !== "",
  "redis-server or valkey-server on the PATH (Debian: apt-get install redis-server)",
);

/** Settings that lose no event. */
export const DURABLE = {
  appendonly: "yes",
  appendfsync: "always",
  "maxmemory-policy": "noeviction",
};

export type RedisServer = Awaited<ReturnType<typeof startRedis>>;

const servers: { server: RedisServer; folder: string }[] = [];

export async function startRedis(
  settings: Record<string, string> = DURABLE,
  firstArgs: string[] = [],
) {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "push-redis-"));
  let child: ChildProcess | undefined;
  const redis = new Redis(port, "127.0.0.1", { retryStrategy: () => 20, lazyConnect: true });
  redis.on("error", () => {});

  async function start(changed: Record<string, string> = settings): Promise<void> {
    const args = Object.entries({ port: String(port), dir: folder, save: "", ...changed });
    const options = args.flatMap(([name, value]) => [`--${name}`, value]);
    child = spawn(binary, [...firstArgs, ...options], { stdio: "ignore" });
    await untilListening(port);
  }

  const server = {
    port,
    url: `redis://127.0.0.1:${port}`,
    redis,
    start,
    async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
      if (child === undefined) return;
      const exited = once(child, "exit");
      child.kill(signal);
      // A frozen process gets the signal only after SIGCONT.
      child.kill("SIGCONT");
      await exited;
      child = undefined;
    },
    isUp: () => child !== undefined,
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    /** A number of the reply of INFO, or 0. */
    async readInfo(section: string, field: string): Promise<number> {
      const text = await redis.info(section);
      return Number(text.split(`\n${field}`)[1]?.match(/\d+/)?.[0] ?? 0);
    },
  };
  servers.push({ server, folder });
  await start();
  return server;
}

export async function stopRedis(): Promise<void> {
  for (const { server, folder } of servers.splice(0)) {
    server.redis.disconnect();
    await server.stop("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}
