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
    expect([options.commandTimeout, options.socketTimeout]).toEqual([
      commandTimeout,
      socketTimeout,
    ]);
    const listPauses = () => [1, 2, 5, 50].map((times) => options.retryStrategy?.(times));
    expect(listPauses()).toEqual([20, 40, 250, 250]);
    redis.emit("error", Object.assign(new Error("WRONGPASS"), { name: "ReplyError" }));
    expect(listPauses()).toEqual(Array(4).fill(2_000));
    redis.emit("error", new Error("ECONNREFUSED"));
    expect(listPauses()).toEqual([20, 40, 250, 250]);
    end();
  },
);
