/** Redis as people run it; `npm run setups` prints the table. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { createCertificate } from "../../support/certificate";
import { closeLater, silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { DURABLE, describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { startRedisCluster } from "../../support/redis-cluster";
import { startRedisProxy } from "../../support/redis-proxy";
import { describeSetups, type Rejection, type Setup } from "./describe-setups";

type Durability = RedisQueueOptions["durability"];

const folder = mkdtempSync(join(tmpdir(), "push-conf-"));
// ioredis writes that it skips its check for a user without INFO.
beforeAll(() => void jest.spyOn(console, "warn").mockImplementation(() => {}));
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});
afterEach(stopRedis);

const open = (connection: RedisQueueOptions["connection"], durability?: Durability) => () =>
  redisQueue({ name: "setup", connection, durability, backoff: 20, logger: silent });

/** A Redis with other settings; a queue with another URL, or with a socket. */
const withSettings =
  (settings: object, at: string | { path: string } = "//", durability?: Durability) =>
  async () => {
    const { url } = await startRedis({ ...DURABLE, ...settings });
    return open(typeof at === "string" ? url.replace("//", at) : at, durability);
  };

/** A Redis that has renamed or removed commands. */
const withCommands = (lines: string, durability?: Durability) => async () => {
  const include = join(folder, "rename.conf");
  writeFileSync(include, lines.replaceAll(/^/gm, "rename-command "));
  return withSettings({ include }, "//", durability)();
};

/** A user with these rights and no others. */
const withRights = (rights: string, durability?: Durability) => async () => {
  const { url, redis } = await startRedis();
  await redis.acl("SETUSER", "app", "on", ">pw", "resetchannels", ...rights.split(" "));
  return open(url.replace("//", "//app:pw@"), durability);
};

/** A Redis with TLS on one of its two ports, and a certificate of its own. */
async function startWithTls() {
  const { key, cert } = createCertificate(folder);
  const port = await findFreePort();
  const files = { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": cert };
  const tls = { "tls-port": String(port), "tls-auth-clients": "no", ...files };
  await startRedis({ ...DURABLE, ...tls });
  return { port, ca: readFileSync(cert) };
}

/** A Redis that never replies to CONFIG GET. */
const withoutReply = (durability: Durability) => async () => {
  const proxy = closeLater(await startRedisProxy((await startRedis()).port));
  void proxy.drop("appendonly");
  return open(proxy.url, durability);
};

async function openCluster() {
  const nodes = await startRedisCluster(3);
  return open({ cluster: nodes.map(({ port }) => ({ port, host: "127.0.0.1" })) }, "trust");
}

async function openReplica() {
  const { url, redis } = await startRedis();
  await redis.replicaof("127.0.0.1", "1");
  return open(url);
}

async function openWithCa() {
  const { port, ca } = await startWithTls();
  return open({ host: "127.0.0.1", port, tls: { ca } });
}

const path = join(folder, "redis.sock");
const LEAST = "+@all -@dangerous +info +config|get ~push:* &push:*";
const WITHOUT_CONFIG = LEAST.replace("+config|get ", "");
const REJECTED = (words: RegExp): Rejection => ["REDIS_REJECTED", words];
const NOT_DURABLE = (words: RegExp): Rejection => ["REDIS_NOT_DURABLE", words];
const wrongPolicies = "allkeys-lru,allkeys-lfu,allkeys-random,volatile-lru,volatile-ttl".split(",");
const everysec = { appendfsync: "everysec" };

const SETUPS: Setup[] = [
  ["appendfsync always, noeviction", withSettings({})],
  ["a Unix socket", withSettings({ unixsocket: path }, { path })],
  ["a cluster", openCluster],
  [
    "a node of a cluster",
    async () => open((await startRedisCluster(1))[0]!.url),
    REJECTED(/connection: \{ cluster:/),
  ],
  ["a replica", openReplica, REJECTED(/replica/)],
  [
    "the defaults of Redis",
    withSettings({ appendonly: "no", ...everysec }),
    NOT_DURABLE(/appendonly yes\n {2}appendfsync always/),
  ],
  ...(["require", "provider", "warn", "trust"] as const).map((durability, index): Setup => [
    `appendfsync everysec, "${durability}"`,
    withSettings(everysec, "//", durability),
    index < 2 ? NOT_DURABLE(/appendfsync always/) : undefined,
  ]),
  ...wrongPolicies.map((policy): Setup => [
    `maxmemory-policy ${policy}`,
    withSettings({ "maxmemory-policy": policy }),
    NOT_DURABLE(/maxmemory-policy noeviction/),
  ]),
  [
    "a wrong password",
    withSettings({ requirepass: "pw" }, "//:hush@"),
    REJECTED(/^(?!.*hush).*WRONGPASS/),
  ],
  ["no password", withSettings({ requirepass: "pw" }), REJECTED(/NOAUTH/)],
  ["the right password", withSettings({ requirepass: "pw" }, "//:pw@")],
  ...[
    ["an error", 'CONFIG ""\nRENAME CONFIG', "no such key"],
    ["an empty list", 'CONFIG ""\nSINTER CONFIG', "replied nothing"],
    ["unknown command", 'CONFIG ""', "unknown command"],
  ].flatMap(([reply, lines = "", words = ""]): Setup[] => [
    [
      `CONFIG replies ${reply}`,
      withCommands(lines),
      NOT_DURABLE(new RegExp(`${words}.*durability: "provider"`)),
    ],
    [`CONFIG replies ${reply}, "provider"`, withCommands(lines, "provider")],
  ]),
  ["CONFIG is never answered", withoutReply("require"), NOT_DURABLE(/does not reply/)],
  ...(["provider", "warn", "trust"] as const).map((durability): Setup => [
    `CONFIG is never answered, "${durability}"`,
    withoutReply(durability),
  ]),
  [
    "no INFO",
    withCommands('INFO ""'),
    REJECTED(/^(?!.*password).*unknown command.*INFO included/i),
  ],
  ["rights: +@all ~* &*", withRights("+@all ~* &*")],
  [`rights: ${LEAST}`, withRights(LEAST)],
  ["rights: +@all -info ~* &*", withRights("+@all -info ~* &*")],
  ["rights: no CONFIG", withRights(WITHOUT_CONFIG, "provider")],
  [
    'rights: no CONFIG, "require"',
    withRights(WITHOUT_CONFIG),
    NOT_DURABLE(/NOPERM.*durability: "provider"/),
  ],
  ...[
    ["+@all -@scripting ~* &*", "eval"],
    ["+@all -evalsha ~* &*", "evalsha"],
    ["+@all ~other:* &*", "key"],
    ["+@all ~push:* &other:*", "channel|publish"],
    ["+@all -@blocking ~* &*", "bzpopmin"],
    ["+@all ~*", "channel|publish"],
    ["+@all -subscribe ~* &*", "subscribe"],
    ["+@all -publish ~* &*", "publish"],
    ["+@all -@sortedset ~* &*", "z"],
    ["+@all -@stream ~* &*", "xadd"],
    ["+@all -@write ~* &*", "set"],
  ].map(([rights = "", words = ""]): Setup => [
    `rights: ${rights}${rights.includes("&") ? "" : " (the default of Redis 7)"}`,
    withRights(rights),
    REJECTED(new RegExp(`${words}.*~push:\\* &push:\\*`, "i")),
  ]),
  ["TLS: its certificate with ca", openWithCa],
  ...["rediss", "redis"].map((scheme): Setup => [
    `TLS: ${scheme}:// to a certificate of its own`,
    async () => open(`${scheme}://127.0.0.1:${(await startWithTls()).port}`),
    REJECTED(/tls: \{ ca \}/),
  ]),
  [
    "TLS: rediss:// to a port without it",
    async () => open((await startRedis()).url.replace("redis:", "rediss:")),
    REJECTED(/rediss:\/\//),
  ],
];

describeWithRedis("", () => describeSetups("Redis", SETUPS));
