/** Redis as people run it; `npm run setups` prints the table. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { DURABLE, describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { startRedisCluster } from "../../support/redis-cluster";
import { startRedisProxy, type RedisProxy } from "../../support/redis-proxy";
import { describeSetups, type Rejection, type Setup } from "./describe-setups";

type Durability = RedisQueueOptions["durability"];

const folder = mkdtempSync(join(tmpdir(), "push-conf-"));
let proxy: RedisProxy | undefined;
// ioredis writes that it skips its check for a user without INFO.
beforeAll(() => void jest.spyOn(console, "warn").mockImplementation(() => {}));
afterAll(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  proxy?.close();
  await stopRedis();
});

const open = (connection: RedisQueueOptions["connection"], durability?: Durability) => () =>
  redisQueue({ name: "setup", connection, durability, backoff: 20, logger: silent });

/** A Redis with other settings, and a queue with another URL. */
const withSettings =
  (settings: Record<string, string>, authority = "//", durability?: Durability) =>
  async () => {
    const { url } = await startRedis({ ...DURABLE, ...settings });
    return open(url.replace("//", authority), durability);
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
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1";
  const words = `req -x509 -newkey rsa:2048 -nodes -days 2 ${subject} -keyout ${key} -out ${cert}`;
  execFileSync("openssl", words.split(" "), { stdio: "ignore" });
  const port = await findFreePort();
  const files = { "tls-cert-file": cert, "tls-key-file": key, "tls-ca-cert-file": cert };
  const tls = { "tls-port": String(port), "tls-auth-clients": "no", ...files };
  await startRedis({ ...DURABLE, ...tls });
  return { port, ca: readFileSync(cert) };
}

/** A Redis that never replies to CONFIG GET. */
const withoutReply = (durability: Durability) => async () => {
  proxy = await startRedisProxy((await startRedis()).port);
  void proxy.drop("appendonly");
  return open(proxy.url, durability);
};

const LEAST = "+@all -@dangerous +info +config|get ~push:* &push:*";
const REJECTED = (words: RegExp): Rejection => ["REDIS_REJECTED", words];
const NOT_DURABLE = (words: RegExp): Rejection => ["REDIS_NOT_DURABLE", words];
const wrongPolicies = "allkeys-lru,allkeys-lfu,allkeys-random,volatile-lru,volatile-ttl".split(",");

const SETUPS: Setup[] = [
  { title: "appendfsync always, noeviction", start: withSettings({}) },
  {
    title: "a Unix socket",
    async start() {
      const path = join(folder, "redis.sock");
      await startRedis({ ...DURABLE, unixsocket: path });
      return open({ path });
    },
  },
  {
    title: "a cluster",
    start: async () =>
      open(
        {
          cluster: (await startRedisCluster(3)).map(({ port }) => ({ port, host: "127.0.0.1" })),
        },
        "trust",
      ),
  },
  {
    title: "a node of a cluster",
    start: async () => open((await startRedisCluster(1))[0]!.url),
    rejects: REJECTED(/connection: \{ cluster:/),
  },
  {
    title: "a replica",
    async start() {
      const { url, redis } = await startRedis();
      await redis.replicaof("127.0.0.1", "1");
      return open(url);
    },
    rejects: REJECTED(/replica/),
  },
  {
    title: "the defaults of Redis",
    start: withSettings({ appendonly: "no", appendfsync: "everysec" }),
    rejects: NOT_DURABLE(/appendonly yes\n {2}appendfsync always/),
  },
  ...(["require", "provider"] as const).map((durability) => ({
    title: `appendfsync everysec, "${durability}"`,
    start: withSettings({ appendfsync: "everysec" }, "//", durability),
    rejects: NOT_DURABLE(/appendfsync always/),
  })),
  ...(["warn", "trust"] as const).map((durability) => ({
    title: `appendfsync everysec, "${durability}"`,
    start: withSettings({ appendfsync: "everysec" }, "//", durability),
  })),
  ...wrongPolicies.map((policy) => ({
    title: `maxmemory-policy ${policy}`,
    start: withSettings({ "maxmemory-policy": policy }),
    rejects: NOT_DURABLE(/maxmemory-policy noeviction/),
  })),
  {
    title: "a wrong password",
    start: withSettings({ requirepass: "pw" }, "//:hush@"),
    rejects: REJECTED(/^(?!.*hush).*WRONGPASS/),
  },
  {
    title: "no password",
    start: withSettings({ requirepass: "pw" }),
    rejects: REJECTED(/NOAUTH/),
  },
  { title: "the right password", start: withSettings({ requirepass: "pw" }, "//:pw@") },
  ...[
    ["an error", 'CONFIG ""\nRENAME CONFIG', "no such key"],
    ["an empty list", 'CONFIG ""\nSINTER CONFIG', "replied nothing"],
    ["unknown command", 'CONFIG ""', "unknown command"],
  ].flatMap(([reply, lines = "", words = ""]): Setup[] => [
    {
      title: `CONFIG replies ${reply}`,
      start: withCommands(lines),
      rejects: NOT_DURABLE(new RegExp(`${words}.*durability: "provider"`)),
    },
    { title: `CONFIG replies ${reply}, "provider"`, start: withCommands(lines, "provider") },
  ]),
  {
    title: "CONFIG is never answered",
    start: withoutReply("require"),
    rejects: NOT_DURABLE(/does not reply/),
  },
  ...(["provider", "warn", "trust"] as const).map((durability) => ({
    title: `CONFIG is never answered, "${durability}"`,
    start: withoutReply(durability),
  })),
  {
    title: "no INFO",
    start: withCommands('INFO ""'),
    rejects: REJECTED(/^(?!.*password).*unknown command.*INFO included/i),
  },
  { title: "rights: +@all ~* &*", start: withRights("+@all ~* &*") },
  { title: `rights: ${LEAST}`, start: withRights(LEAST) },
  { title: "rights: +@all -info ~* &*", start: withRights("+@all -info ~* &*") },
  { title: "rights: no CONFIG", start: withRights(LEAST.replace("+config|get ", ""), "provider") },
  {
    title: 'rights: no CONFIG, "require"',
    start: withRights(LEAST.replace("+config|get ", "")),
    rejects: NOT_DURABLE(/NOPERM.*durability: "provider"/),
  },
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
  ].map(([rights = "", words = ""]) => ({
    title: `rights: ${rights}${rights.includes("&") ? "" : " (the default of Redis 7)"}`,
    start: withRights(rights),
    rejects: REJECTED(new RegExp(`${words}.*~push:\\* &push:\\*`, "i")),
  })),
  {
    title: "TLS: its certificate with ca",
    async start() {
      const { port, ca } = await startWithTls();
      return open({ host: "127.0.0.1", port, tls: { ca } });
    },
  },
  ...["rediss", "redis"].map((scheme) => ({
    title: `TLS: ${scheme}:// to a certificate of its own`,
    start: async () => open(`${scheme}://127.0.0.1:${(await startWithTls()).port}`),
    rejects: REJECTED(/tls: \{ ca \}/),
  })),
  {
    title: "TLS: rediss:// to a port without it",
    start: async () => open((await startRedis()).url.replace("redis:", "rediss:")),
    rejects: REJECTED(/rediss:\/\//),
  },
];

describeWithRedis("", () => describeSetups("Redis", SETUPS));
