import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";

const connection = "redis://127.0.0.1:1";
const name = "shop";
const sentinels = [{ host: "127.0.0.1", port: 26379 }];
const resolve = (options: Partial<RedisQueueOptions>) =>
  resolveRedisOptions({ name, connection, ...options });

describe("redisQueue", () => {
  it("has defaults", () => {
    const own = { prefix: "push", head: `push:${name}`, durability: "require", replicas: 0 };
    const dedupeTtlMs = 86_400_000;
    const times = { dedupeTtlMs, outcomeTtlMs: dedupeTtlMs, storeTimeoutMs: 8_000 };
    const backoff = { type: "exponential", delayMs: 500, jitter: 0.5 };
    const limits = { attempts: 8, backoff, maxPending: 5_000, maxWaiting: 10_000, journal: true };
    const parts = { host: "127.0.0.1", port: 1, db: 0, family: 0 };
    const given = { name, connection: parts, logger: undefined };
    expect(resolve({ attempts: undefined })).toEqual({ ...given, ...own, ...times, ...limits });
  });

  it.each<[option: string, ...wrong: unknown[]]>([
    ["connection", undefined, "127.0.0.1:6379", "http://127.0.0.1", "redis//:hush@127.0.0.1", 6379],
    [
      "connection",
      { cluster: [] },
      { cluster: ["127.0.0.1:7000"] },
      { sentinels },
      { cluster: sentinels, db: 1 },
    ],
    ["connection", { keyPrefix: "app:" }, { connect() {}, disconnect() {}, duplicate() {} }],
    ["name", undefined, "a:b", "", "x".repeat(101)],
    ["prefix", "a b"],
    ["durability", "always"],
    ["replicas", -1, "some"],
    ["dedupeTtlMs", 999],
    ["attempts", 0, 1_001],
    ["backoff", {}, -1, 2 ** 31, { type: "exponential", delayMs: 0.5 }],
    ...[-1, 2].map(
      (jitter) => ["backoff", { type: "fixed", delayMs: 500, jitter }] as [string, object],
    ),
    ["backoff", { type: "linear", delayMs: 500 }, { type: "fixed", delayMs: 1e300 }],
    ["storeTimeoutMs", "8s", 2 ** 31],
    ["maxPending", 0, 1_000_001],
    ["outcomeTtlMs", 1.5],
    ["maxWaiting", 0, 1_000_001],
    ["logger", {}],
  ])("rejects a wrong %s without showing a password", (option, ...values) => {
    const words = new RegExp(`^(?!.*hush).*option ${option} (must be|is not set)`);
    for (const value of values) {
      const make = () => redisQueue({ name, connection, [option]: value });
      expect(make).toThrow(TypeError);
      expect(make).toThrow(words);
    }
  });

  it("takes dedupeTtlMs as the lowest outcomeTtlMs", () => {
    const options = { name, connection, dedupeTtlMs: 5_000 };
    expect(resolve(options)).toHaveProperty("outcomeTtlMs", 5_000);
    expect(() => redisQueue({ ...options, outcomeTtlMs: 4_999 })).toThrow(/outcomeTtlMs/);
  });

  it("takes a number as a fixed backoff", () => {
    expect(resolve({ backoff: 20 }).backoff).toEqual({ type: "fixed", delayMs: 20 });
  });

  it('has replicas: "all" with sentinels and a hash tag as prefix in a cluster', () => {
    const group = { sentinels, name: "main" };
    expect(resolve({ connection: group })).toHaveProperty("replicas", "all");
    expect(resolve({ connection: group, replicas: 0 })).toHaveProperty("replicas", 0);
    const nodes = { cluster: sentinels };
    expect(resolve({ connection: nodes })).toMatchObject({ prefix: "{push}", replicas: 0 });
    expect(resolve({ connection: nodes, prefix: "a{b}" })).toHaveProperty("prefix", "a{b}");
  });

  it.each([
    ["redis://h", { port: 6379, db: 0 }],
    ["REDISS://h:1/3?family=6", { port: 1, db: 3, family: 6, tls: {} }],
    ["redis://:p%23%2F%3F%40%25:@h", { password: "p#/?@%:" }],
    ["redis://us%40er:p:w@[::1]", { host: "::1", username: "us@er", password: "p:w" }],
    ["redis://a@b:p@w@h", { username: "a@b", password: "p@w" }],
    [
      { url: "rediss://h", tls: { servername: "x" } },
      { host: "h", tls: { servername: "x" } },
    ],
  ])("reads %j", (given, parts) => {
    const { connection: read } = resolve({ connection: given });
    expect(read).toMatchObject({ host: "h", ...parts });
  });

  it("takes options of ioredis as they are", () => {
    const given = { host: "fe80::1%eth0", port: "6379", family: "6", db: 0, tls: true as never };
    expect(resolve({ connection: given })).toHaveProperty("connection", given);
  });

  it("names an unknown option", () => {
    expect(() => redisQueue({ name, connection, attempt: 1 } as never)).toThrow(/"attempts"/);
  });
});
