import type { RedisQueueOptions } from "express-push-verification/durable";
import { findRedisRejection, openConnection } from "../../../lib/durable/redis/connection";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";

it.each([
  ["WRONGPASS invalid username-password pair", true],
  ["NOAUTH Authentication required.", true],
  ["LOADING Redis is loading the dataset in memory", false],
  ["ERR max number of clients reached", false],
  ["CLUSTERDOWN The cluster is down", false],
  ["MOVED 297 127.0.0.2:38251", false],
  ["ASK 297 127.0.0.2:38251", false],
  ["BUSY running", false],
  ["BUSYGROUP exists", true],
  ["MASTERDOWN", false],
  ["NOREPLICAS", false],
  ["TRYAGAIN", false],
])("the reply %j is a rejection: %j", (message, isRejection) => {
  const reply = Object.assign(new Error(message), { name: "ReplyError" });
  const ofNode = Object.assign(new Error("all failed"), { lastNodeError: reply });
  const expected = isRejection ? reply : undefined;
  expect(findRedisRejection(reply)).toBe(expected);
  expect(findRedisRejection(ofNode)).toBe(expected);
  // An error that is no reply is an outage.
  expect(findRedisRejection(new Error(message))).toBeUndefined();
});

// The service waits for 15 s; a worker blocks for 5 s.
it.each([
  ["store", 1_500, 3_000],
  ["subscriber", 1_500, 3_000],
  ["worker", undefined, 15_000],
] as const)(
  "the connection of a %s connects again soon unless Redis rejects it",
  (role, commandTimeout, socketTimeout) => {
    const settings = resolveRedisOptions({ name: "q", connection: "redis://127.0.0.1:1" });
    const { redis, end } = openConnection(settings, role);
    const { options } = redis;
    const connectionName = `push-webhooks-${role}`;
    const limits = { connectTimeout: 2_000, maxLoadingRetryTime: 100, disconnectTimeout: 300 };
    const given = { commandTimeout, socketTimeout, connectionName, ...limits };
    expect(options).toEqual(expect.objectContaining(given));
    const listPauses = () => [1, 2, 5, 50].map((times) => options.retryStrategy?.(times));
    expect(listPauses()).toEqual([20, 40, 250, 250]);
    redis.emit("error", Object.assign(new Error("WRONGPASS"), { name: "ReplyError" }));
    expect(listPauses()).toEqual(Array(4).fill(2_000));
    redis.emit("error", new Error("ECONNREFUSED"));
    expect(listPauses()).toEqual([20, 40, 250, 250]);
    end();
  },
);

const address = { host: "127.0.0.1", port: 1 };
it.each<[connection: RedisQueueOptions["connection"], options: object]>([
  [
    { sentinels: [address], name: "main" },
    { failoverDetector: true, sentinelCommandTimeout: 1_000, enableOfflineQueue: false },
  ],
  [
    { cluster: [address], natMap: {}, password: "pw" },
    {
      scaleReads: "master",
      slotsRefreshInterval: 1_000,
      slotsRefreshTimeout: 1_000,
      natMap: {},
      enableOfflineQueue: false,
      redisOptions: expect.objectContaining({ password: "pw", commandTimeout: 1_500 }) as object,
    },
  ],
])("the connection to %j finds a successor", (connection, expected) => {
  const { redis, end } = openConnection(resolveRedisOptions({ name: "q", connection }), "store");
  expect(redis.options).toMatchObject(expected);
  end();
});
