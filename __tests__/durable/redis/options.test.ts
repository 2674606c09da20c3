import { redisQueue, type RedisQueueOptions } from "express-push-verification/durable";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";

const connection = "redis://127.0.0.1:1";
const name = "shop";

describe("redisQueue", () => {
  it("has defaults", () => {
    expect(resolveRedisOptions({ name, connection })).toEqual({
      connection,
      name,
      prefix: "push",
      durability: "require",
      replicas: 0,
      dedupeTtlMs: 86_400_000,
      attempts: 8,
      backoff: { type: "exponential", delayMs: 500, jitter: 0.5 },
      storeTimeoutMs: 8_000,
      maxPending: 5_000,
      outcomeTtlMs: 86_400_000,
      maxWaiting: 10_000,
      logger: undefined,
    });
  });

  it.each([
    ["connection", undefined],
    ["connection", "127.0.0.1:6379"],
    ["connection", "http://127.0.0.1"],
    ["connection", 6379],
    ["connection", { cluster: [] }],
    ["connection", { cluster: ["127.0.0.1:7000"] }],
    ["connection", { sentinels: [{ host: "127.0.0.1", port: 26379 }] }],
    ["connection", { keyPrefix: "app:" }],
    ["connection", { url: "redis://127.0.0.1:6379" }],
    ["connection", { connect() {}, disconnect() {}, duplicate() {} }],
    ["name", undefined],
    ["name", "a:b"],
    ["name", ""],
    ["prefix", "a b"],
    ["durability", "always"],
    ["replicas", -1],
    ["replicas", "some"],
    ["dedupeTtlMs", 0],
    ["attempts", 0],
    ["backoff", {}],
    ["backoff", -1],
    ["backoff", 2 ** 31],
    ["backoff", { type: "exponential", delay: 500 }],
    ["backoff", { type: "exponential", delayMs: 500, jitter: 2 }],
    ["backoff", { type: "linear", delayMs: 500 }],
    ["backoff", { type: "fixed", delayMs: 1e300 }],
    ["storeTimeoutMs", "8s"],
    ["maxPending", 0],
    ["outcomeTtlMs", 1.5],
    ["maxWaiting", 0],
    ["logger", {}],
  ])("rejects %s: %j", (option, value) => {
    const make = () => redisQueue({ name, connection, [option]: value });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(new RegExp(`option ${option} (must be|is not set)`));
  });

  it("rejects an outcomeTtlMs below dedupeTtlMs, and takes dedupeTtlMs as its default", () => {
    const options = { name, connection, dedupeTtlMs: 5_000 };
    expect(resolveRedisOptions(options).outcomeTtlMs).toBe(5_000);
    expect(() => redisQueue({ ...options, outcomeTtlMs: 4_999 })).toThrow(/outcomeTtlMs/);
  });

  it('has replicas: "all" with sentinels and a hash tag as prefix in a cluster', () => {
    const sentinels = [{ host: "127.0.0.1", port: 26379 }];
    const cluster = [{ host: "127.0.0.1", port: 7000 }];
    const resolve = (options: Partial<RedisQueueOptions> & Pick<RedisQueueOptions, "connection">) =>
      resolveRedisOptions({ name, ...options });
    expect(resolve({ connection: { sentinels, name: "main" } })).toHaveProperty("replicas", "all");
    expect(resolve({ connection: { sentinels, name: "main" }, replicas: 0 }).replicas).toBe(0);
    expect(resolve({ connection: { cluster } })).toMatchObject({ prefix: "{push}", replicas: 0 });
    expect(resolve({ connection: { cluster }, prefix: "a{b}" }).prefix).toBe("a{b}");
  });

  it("takes a backoff in milliseconds as a fixed one", () => {
    const { backoff } = resolveRedisOptions({ name, connection, backoff: 20 });
    expect(backoff).toEqual({ type: "fixed", delayMs: 20 });
  });

  it.each<[connection: unknown, words: RegExp]>([
    [{ url: "redis://:hush@127.0.0.1" }, /pass the URL itself as connection/],
    ["redis//:hush@127.0.0.1", /connection/],
  ])("names the mistake of %j, and shows no password", (wrong, words) => {
    const make = () => redisQueue({ name, connection: wrong as never });
    expect(make).toThrow(words);
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringContaining("hush") }));
  });

  it("names an option that does not exist", () => {
    expect(() => redisQueue({ name, connection, attempt: 1 } as never)).toThrow(/"attempts"/);
  });
});
