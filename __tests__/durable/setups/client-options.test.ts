/** Options of ioredis that an app has for itself; `npm run setups` prints the table. */
import { Redis, type RedisOptions } from "ioredis";
import { DEFAULT_REDIS_OPTIONS } from "ioredis/built/redis/RedisOptions";
import { redisQueue } from "express-push-verification/durable";
import { silent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { describeSetups, type Rejection, type Setup } from "./setup";

const never = () => null;

/** Those that the queue sets: whatever the app has changes nothing. */
const SET = {
  autoPipeliningIgnoredCommands: ["get"],
  autoResendUnfulfilledCommands: false,
  autoResubscribe: true,
  blockingTimeout: 1,
  blockingTimeoutGrace: 1,
  commandTimeout: 1,
  connectTimeout: 1,
  connectionName: "app",
  disconnectTimeout: 1,
  enableAutoPipelining: true,
  enableOfflineQueue: true,
  enableReadyCheck: false,
  failoverDetector: true,
  lazyConnect: true,
  maxLoadingRetryTime: 1,
  maxRetriesPerRequest: 0,
  monitor: true,
  readOnly: true,
  reconnectOnError: () => 2,
  replyMapping: "resp3",
  retryStrategy: never,
  role: "slave",
  scripts: { addStandardJob: { lua: "return 1", numberOfKeys: 0 } },
  sentinelReconnectStrategy: never,
  sentinelRetryStrategy: never,
  socketTimeout: 1,
  stringNumbers: true,
} satisfies RedisOptions;

const HARMLESS = {
  clientInfoTag: "app",
  commandQueue: false,
  db: 1,
  disableClientInfo: true,
  enableTLSForSentinelMode: true,
  family: 4,
  himportFieldsets: [],
  keepAlive: 1,
  name: "main",
  natMap: {},
  noDelay: false,
  offlineQueue: false,
  password: "pw",
  preferredSlaves: [],
  protocol: 2,
  sentinelCommandTimeout: 1,
  sentinelMaxConnections: 1,
  sentinelPassword: "pw",
  sentinelTLS: {},
  sentinelUsername: "app",
  sentinels: undefined,
  showFriendlyErrorStack: true,
  updateSentinels: false,
  username: "default",
} satisfies RedisOptions & { showFriendlyErrorStack: boolean; sentinels: undefined };

const REFUSED = { keyPrefix: "app:" } satisfies RedisOptions;
/** Those of the set-ups of a Redis: its address. */
const ADDRESS = ["host", "port"];

let server: RedisServer;

function createRow(name: string, value: unknown, asInstance: boolean, rejects?: Rejection): Setup {
  const start = async () => {
    server = await startRedis();
    await server.redis.config("SET", "requirepass", name === "password" ? "pw" : "");
    const options = { host: "127.0.0.1", port: server.port, password: "", [name]: value };
    const instance = new Redis({ ...options, lazyConnect: true });
    const connection = asInstance ? instance : options;
    return () => redisQueue({ name: "setup", connection, backoff: 20, logger: silent });
  };
  return [`${asInstance ? "instance" : "options"}: ${name}`, start, rejects];
}

const createRows = (options: object, rejects?: (name: string) => Rejection) =>
  Object.entries(options).flatMap(([name, value]) =>
    [false, true].map((asInstance) => createRow(name, value, asInstance, rejects?.(name))),
  );

describeWithRedis("", () => {
  afterEach(stopRedis);

  describeSetups("Redis, options of ioredis", [
    ...createRows(SET),
    ...createRows(HARMLESS),
    ...createRows(REFUSED, (name) => ["TypeError", new RegExp(name)]),
  ]);

  it("these are all options", () => {
    const known = [...Object.keys({ ...SET, ...HARMLESS, ...REFUSED }), ...ADDRESS];
    const others = Object.keys(DEFAULT_REDIS_OPTIONS).filter((name) => !known.includes(name));
    expect(others).toEqual([]);
  });
});
