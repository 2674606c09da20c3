/** Options of ioredis and pg that an app has for itself; `npm run setups` prints the table. */
import { Redis, type RedisOptions } from "ioredis";
import { DEFAULT_REDIS_OPTIONS } from "ioredis/built/redis/RedisOptions";
import { Client, Pool, type PoolConfig } from "pg";
import { postgresQueue, redisQueue } from "express-push-verification/durable";
import { patient } from "../../support/durable";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../../support/postgres";
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

/** Those with which a queue does what the app says. */
const HARMLESS =
  "clientInfoTag,commandQueue,db,disableClientInfo,enableTLSForSentinelMode,family,himportFieldsets,keepAlive,name,natMap,noDelay,offlineQueue,password,preferredSlaves,protocol,sentinelCommandTimeout,sentinelMaxConnections,sentinelPassword,sentinelTLS,sentinelUsername,sentinels,showFriendlyErrorStack,updateSentinels,username";

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
    return () => redisQueue({ name: "setup", connection, backoff: 20, ...patient });
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
    ...createRows(REFUSED, (name) => ["TypeError", new RegExp(name)]),
  ]);

  it("these are all options", () => {
    const known = new Set([
      ...Object.keys({ ...SET, ...REFUSED }),
      ...HARMLESS.split(","),
      ...ADDRESS,
    ]);
    const others = Object.keys(DEFAULT_REDIS_OPTIONS).filter((name) => !known.has(name));
    expect(others).toEqual([]);
  });
});

/** Options of pg that the queue sets, or that change nothing for it. */
const OF_PG = {
  allowExitOnIdle: true,
  application_name: "app",
  binary: true,
  Client: class Foreign extends Client {
    override connect = () => Promise.reject(new Error("foreign"));
  },
  client_encoding: "LATIN1",
  connection: new Client().connection,
  connectionTimeoutMillis: 1,
  enableChannelBinding: true,
  fallback_application_name: "app",
  idle_in_transaction_session_timeout: 1_000,
  idleTimeoutMillis: 1,
  keepAlive: false,
  keepAliveInitialDelayMillis: 1,
  lock_timeout: 1_000,
  log: () => {},
  max: 1,
  maxLifetimeSeconds: 1,
  maxUses: 1,
  min: 1,
  onConnect: () => {},
  options:
    "-c default_transaction_isolation=serializable -c search_path=app -c datestyle=German -c bytea_output=escape",
  parseInputDatesAsUTC: true,
  password: () => "pw",
  pipeline: true,
  poolSize: 1,
  Promise,
  query_timeout: 1,
  replication: "database",
  scramMaxIterations: 1,
  ssl: false,
  sslnegotiation: "postgres",
  statement_timeout: 1_000,
  stream: () => {
    throw new Error("foreign");
  },
  types: { getTypeParser: () => () => "foreign" },
  verify: (_client: unknown, done: () => void) => done(),
} satisfies Record<
  keyof Omit<PoolConfig, "user" | "host" | "port" | "database" | "connectionString">,
  unknown
> &
  Record<string, unknown>;

describeWithPostgres("", () => {
  let running: PostgresProcess;
  let count = 0;

  const createPgRow = (name: string, value: unknown, rejects?: Rejection): Setup => [
    name,
    () => {
      const { port } = running;
      const address = { host: "127.0.0.1", port, user: "push", database: "postgres" };
      const connection = { ...address, [name]: value };
      const options = { name: `setup${++count}`, backoff: 20, ...patient };
      return () => postgresQueue({ ...options, connection });
    },
    rejects,
  ];

  beforeAll(async () => {
    running = await startPostgres();
  });
  afterAll(() => running.remove());

  describeSetups("Postgres, options of pg", [
    ...Object.entries(OF_PG).map(([name, value]) => createPgRow(name, value)),
    createPgRow("connectionString", "postgres://127.0.0.1", ["TypeError", /URL itself/]),
    createPgRow("query", new Pool().query, ["TypeError", /not a Pool or a Client/]),
  ]);
});
