/** Groups of Redis servers for the benches: sentinels with a primary and a replica, and a cluster. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { findFreePort } from "./processes";

const DURABLE = { save: "", appendonly: "yes", appendfsync: "always" };
const folders: string[] = [];
const children: ChildProcess[] = [];
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

/** A server of a group. */
export interface GroupServer {
  port: number;
  child: ChildProcess;
  /** Starts it again after its end. */
  start(): Promise<void>;
}

type Settings = Record<string, string>;

const toArgs = (settings: Settings) =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);

const dataArgs = (folder: string, port: number, settings: Settings = {}) =>
  toArgs({
    port: String(port),
    dir: folder,
    ...DURABLE,
    "repl-diskless-sync-delay": "0",
    "repl-timeout": "5",
    ...settings,
  });

async function startServer(args: (folder: string, port: number) => string[]): Promise<GroupServer> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "push-group-"));
  folders.push(folder);
  const server: GroupServer = {
    port,
    child: undefined as unknown as ChildProcess,
    async start() {
      server.child = spawn("redis-server", args(folder, port), { stdio: "ignore" });
      children.push(server.child);
      const redis = new Redis(port, "127.0.0.1", { retryStrategy: () => 20 });
      redis.on("error", () => {});
      await redis.ping();
      redis.disconnect();
    },
  };
  await server.start();
  return server;
}

/** Ends every server and removes its files. */
export async function removeGroups(): Promise<void> {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    child.kill("SIGCONT");
    await exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** A primary that sentinels and its replicas reach through a link that can be cut. */
export interface SentinelGroup {
  primary: GroupServer;
  sentinels: { host: string; port: number }[];
  /** The clients reach the primary without the link. */
  natMap: Record<string, { host: string; port: number }>;
  cut(): void;
  replicas: GroupServer[];
}

/**
 * Starts a primary, two replicas and three sentinels, which fail over after 1 s. With one replica, no
 * other server could confirm an event after the failover.
 */
export async function startSentinels(name: string): Promise<SentinelGroup> {
  const primary = await startServer((folder, port) => dataArgs(folder, port));
  const link = await startLink(primary.port);
  const replicaof = `127.0.0.1 ${link.port}`;
  const replicas: GroupServer[] = [];
  for (let count = 0; count < 2; count++) {
    replicas.push(await startServer((folder, port) => dataArgs(folder, port, { replicaof })));
  }
  const sentinels = [];
  for (let count = 0; count < 3; count++) {
    const { port } = await startServer((folder, sentinelPort) => {
      const file = join(folder, "sentinel.conf");
      const lines = [
        `port ${sentinelPort}`,
        `dir ${folder}`,
        `sentinel monitor ${name} 127.0.0.1 ${link.port} 2`,
        `sentinel down-after-milliseconds ${name} 1000`,
        // An election without a winner is repeated after twice this time.
        `sentinel failover-timeout ${name} 1500`,
      ];
      writeFileSync(file, lines.join("\n"));
      return [file, "--sentinel"];
    });
    sentinels.push({ host: "127.0.0.1", port });
  }
  // The sentinels find each other and the replicas through the primary.
  for (const { port } of sentinels) {
    const redis = new Redis(port);
    const known = async (what: string) =>
      ((await redis.call("SENTINEL", what, name)) as unknown[]).length;
    while ((await known("sentinels")) < 2 || (await known("replicas")) < 2) await sleep(50);
    redis.disconnect();
  }
  const natMap = { [`127.0.0.1:${link.port}`]: { host: "127.0.0.1", port: primary.port } };
  return { primary, replicas, sentinels, natMap, cut: link.cut };
}

async function startLink(target: number): Promise<{ port: number; cut(): void }> {
  const sockets = new Set<Socket>();
  const port = await findFreePort();
  const server: Server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    client.on("close", () => upstream.destroy()).pipe(upstream);
    upstream.on("close", () => client.destroy()).pipe(client);
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  return {
    port,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The address that the nodes of a cluster announce, where the clients need another. */
export const ANNOUNCED_HOST = "127.0.0.2";

/** How a cluster is set up. */
export interface ClusterSettings {
  replicasEach: number;
  /** Whether clients need a `natMap`. */
  isTranslated: boolean;
}

/** Starts a cluster of three primaries with replicas, which fail over after 2 s. */
export async function startCluster(settings: ClusterSettings): Promise<GroupServer[]> {
  const nodes: GroupServer[] = [];
  for (let count = 0; count < 3 * (1 + settings.replicasEach); count++) {
    nodes.push(
      await startServer((folder, port) =>
        toArgs({
          port: String(port),
          dir: folder,
          ...DURABLE,
          "cluster-enabled": "yes",
          "cluster-node-timeout": "2000",
          "repl-diskless-sync-delay": "0",
          // The default is the port and 10,000, which may be above 65,535.
          "cluster-port": String(port > 55_000 ? port - 10_000 : port + 10_000),
          ...(settings.isTranslated && { "cluster-announce-ip": ANNOUNCED_HOST }),
        }),
      ),
    );
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const replicas = ["--cluster-replicas", String(settings.replicasEach)];
  const args = ["--cluster", "create", ...addresses, ...replicas, "--cluster-yes"];
  await promisify(execFile)("redis-cli", args);
  await sleep(3_000);
  return nodes;
}

/** Cuts the replicas off: from now on, they get no writes of a primary. */
export async function cutOff({ port }: GroupServer): Promise<void> {
  const redis = new Redis(port, "127.0.0.1");
  await redis.acl("SETUSER", "default", "-psync", "-sync");
  await redis.call("CLIENT", "KILL", "TYPE", "replica");
  redis.disconnect();
}

/** The result of a load on a queue. */
export interface LoadResult {
  stored: string[];
  failed: number;
  /** The longest time without a stored event, in milliseconds. */
  gapMs: number;
}

/** When and how events are stored. */
export interface LoadOptions {
  /** How long before `disturb`. */
  beforeMs: number;
  /** How long from then on. */
  afterMs: number;
  /** How many at a time. @default 100 a second */
  lanes?: number | undefined;
}

/** Stores events and calls `disturb` meanwhile. */
export async function load(
  { beforeMs, afterMs, lanes = 0 }: LoadOptions,
  store: (uuid: string) => Promise<unknown>,
  disturb: () => unknown,
): Promise<LoadResult> {
  const stored: string[] = [];
  let failed = 0;
  let gapMs = 0;
  let lastMs = performance.now();
  const storing: Promise<void>[] = [];
  const one = async () => {
    const uuid = crypto.randomUUID();
    try {
      await store(uuid);
      stored.push(uuid);
      gapMs = Math.max(gapMs, performance.now() - lastMs);
      lastMs = performance.now();
    } catch {
      failed++;
    }
  };
  const over = new AbortController();
  const lane = async () => {
    while (!over.signal.aborted) await one();
  };
  const timer = lanes === 0 ? setInterval(() => storing.push(one()), 10) : undefined;
  for (let count = 0; count < lanes; count++) storing.push(lane());
  await sleep(beforeMs);
  await disturb();
  await sleep(afterMs);
  over.abort();
  clearInterval(timer);
  await Promise.all(storing);
  return { stored, failed, gapMs: Math.round(gapMs) };
}
