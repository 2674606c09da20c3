/** Redis as people run it; `npm run setups` prints the table. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { createCertificate } from "../../support/certificate";
import { closeLater, patient } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import * as redis from "../../support/redis";
import { startRedisProxy } from "../../support/redis-proxy";
import { until } from "../../support/waiting";
import { describeSetups, type Rejection, type Setup } from "./setup";

type Durability = RedisQueueOptions["durability"];

const folder = mkdtempSync(join(tmpdir(), "push-conf-"));
// ioredis writes that it skips its check for a user without INFO.
beforeAll(() => void jest.spyOn(console, "warn").mockImplementation(() => {}));
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});
afterEach(redis.stopRedis);

const open = (connection: RedisQueueOptions["connection"], durability?: Durability) => () =>
  redisQueue({ name: "setup", connection, durability, backoff: 20, ...patient });

const withSettings =
  (settings: object, at: string | { path: string } = "//", durability?: Durability) =>
  async () => {
    const { url } = await redis.startRedis({ ...redis.DURABLE, ...settings });
    return open(typeof at === "string" ? url.replace("//", at) : at, durability);
  };

const withCommands = (lines: string, durability?: Durability) => async () => {
  const include = join(folder, "rename.conf");
  writeFileSync(include, lines.replaceAll(/^/gm, "rename-command "));
  return withSettings({ include }, "//", durability)();
};

const withRights = (rights: string) => async () => {
  const server = await redis.startRedis();
  await server.redis.acl("SETUSER", "app", "on", ">pw", "resetchannels", ...rights.split(" "));
  return open(server.url.replace("//", "//app:pw@"));
};

/** A Redis with TLS on one of its two ports, and a certificate of its own; cli/queue.test.ts passes its authority. */
const withTls = (scheme: string) => async () => {
  const { key, cert } = createCertificate(folder);
  const port = await findFreePort();
  const files = { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": cert };
  const tls = { "tls-port": String(port), "tls-auth-clients": "no", ...files };
  await redis.startRedis({ ...redis.DURABLE, ...tls });
  return open(`${scheme}://127.0.0.1:${port}`);
};

const withoutReply = (durability: Durability) => async () => {
  const proxy = closeLater(await startRedisProxy((await redis.startRedis()).port));
  void proxy.drop("appendonly");
  return open(proxy.url, durability);
};

async function startCluster(size: number): Promise<redis.RedisServer[]> {
  const nodes: redis.RedisServer[] = [];
  for (let index = 0; index < size; index++) {
    // The default is the port and 10,000, which may be above 65,535.
    const busPort = await findFreePort();
    const settings = { "cluster-enabled": "yes", "cluster-port": String(busPort) };
    const node = await redis.startRedis(settings);
    const [from = 0, to = 0] = [index, index + 1].map((part) => Math.ceil((part * 16_384) / size));
    await node.redis.cluster("ADDSLOTSRANGE", from, to - 1);
    await nodes[0]?.redis.cluster("MEET", "127.0.0.1", node.port, busPort);
    nodes.push(node);
  }
  // Every node knows the others, and all slots are served.
  const isUp = async (node: redis.RedisServer) => {
    const info = await node.redis.cluster("INFO");
    return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${size}`);
  };
  await until(async () => (await Promise.all(nodes.map(isUp))).every(Boolean));
  return nodes;
}

async function openCluster() {
  const nodes = await startCluster(3);
  return open({ cluster: nodes.map(({ port }) => ({ port, host: "127.0.0.1" })) }, "trust");
}

const path = join(folder, "redis.sock");
const LEAST = "+@all -@dangerous +info +config|get ~push:* &push:*";
const REJECTED = (words: RegExp): Rejection => ["REDIS_REJECTED", words];
const NOT_DURABLE = (words: RegExp): Rejection => ["REDIS_NOT_DURABLE", words];
const everysec = { appendfsync: "everysec" };
const password = { requirepass: "pw" };
const LEVELS = ["require", "provider", "warn", "trust"] as const;

const SETUPS: Setup[] = [
  ["appendfsync always, noeviction", withSettings({})],
  ["a Unix socket", withSettings({ unixsocket: path }, { path })],
  [
    "a password with every special character, a database, a family",
    async () => {
      const words = "p:w@/?#% &=+[]";
      const { url } = await redis.startRedis({ ...redis.DURABLE, requirepass: words });
      return open(`${url.replace("//", `//:${encodeURIComponent(words)}@`)}/3?family=4`);
    },
  ],
  ["a cluster", openCluster],
  [
    "a node of a cluster",
    async () => open((await startCluster(1))[0]!.url),
    REJECTED(/connection: \{ cluster:/),
  ],
  ["a replica", withSettings({ replicaof: "127.0.0.1 1" }), REJECTED(/replica/)],
  ...LEVELS.map((durability, index): Setup => [
    `appendfsync everysec, "${durability}"`,
    withSettings(everysec, "//", durability),
    index < 2 ? NOT_DURABLE(/appendfsync always/) : undefined,
  ]),
  [
    "a database that it does not have",
    async () => open(`${(await redis.startRedis()).url}/99`),
    REJECTED(/DB index is out of range/),
  ],
  ["a wrong password", withSettings(password, "//:hush@"), REJECTED(/^(?!.*hush).*WRONGPASS/)],
  ["no password", withSettings(password), REJECTED(/NOAUTH/)],
  ...[
    ["an empty list", 'CONFIG ""\nSINTER CONFIG', "replied nothing"],
    ["unknown command", 'CONFIG ""', "unknown command"],
  ].flatMap(([reply, lines = "", words = ""]): Setup[] => {
    const rejects = NOT_DURABLE(new RegExp(`${words}.*durability: "provider"`));
    return [
      [`CONFIG replies ${reply}`, withCommands(lines), rejects],
      [`CONFIG replies ${reply}, "provider"`, withCommands(lines, "provider")],
    ];
  }),
  ...LEVELS.map((durability): Setup => [
    `CONFIG is never answered, "${durability}"`,
    withoutReply(durability),
    durability === "require" ? NOT_DURABLE(/does not reply/) : undefined,
  ]),
  ["no INFO", withCommands('INFO ""'), REJECTED(/unknown command.*INFO included/i)],
  [`rights: ${LEAST}`, withRights(LEAST)],
  ["rights: +@all -info ~* &*", withRights("+@all -info ~* &*")],
  // availability.test.ts has every command.
  ...[
    ["+@all -evalsha ~* &*", "evalsha"],
    ["+@all ~other:* &*", "key"],
    ["+@all ~push:* &other:*", "channel|publish"],
    ["+@all ~*", "channel|publish"],
  ].map(([rights = "", words = ""]): Setup => [
    `rights: ${rights}${rights.includes("&") ? "" : " (the default of Redis 7)"}`,
    withRights(rights),
    REJECTED(new RegExp(`${words}.*~push:\\* &push:\\*`, "i")),
  ]),
  ...["rediss", "redis"].map((scheme): Setup => [
    `TLS: ${scheme}:// to a certificate of its own`,
    withTls(scheme),
    REJECTED(/tls: \{ ca \}/),
  ]),
  [
    "TLS: rediss:// to a port without it",
    async () => open((await redis.startRedis()).url.replace("redis:", "rediss:")),
    REJECTED(/rediss:\/\//),
  ],
];

redis.describeWithRedis("", () => describeSetups("Redis", SETUPS));
