import { durableQueue } from "express-push-verification/durable";
import { resolveDurableOptions } from "../../lib/durable/options";

const connection = "redis://127.0.0.1:1";

describe("durableQueue", () => {
  it("has defaults", () => {
    expect(resolveDurableOptions({ connection })).toEqual({
      connection,
      name: "push-webhooks",
      prefix: "push",
      durability: "require",
      replicas: 0,
      dedupeTtlMs: 86_400_000,
      attempts: 8,
      backoff: { type: "exponential", delay: 500, jitter: 0.5 },
      holdMs: 8_000,
      maxHeld: 5_000,
      outcomeTtlMs: 3_600_000,
      maxWaiting: 10_000,
      logger: undefined,
    });
  });

  it.each([
    ["connection", undefined],
    ["connection", "127.0.0.1:6379"],
    ["connection", "http://127.0.0.1"],
    ["connection", 6379],
    ["name", "a:b"],
    ["name", ""],
    ["prefix", "a b"],
    ["durability", "always"],
    ["replicas", -1],
    ["dedupeTtlMs", 0],
    ["attempts", 0],
    ["backoff", {}],
    ["backoff", -1],
    ["holdMs", "8s"],
    ["maxHeld", 0],
    ["outcomeTtlMs", 1.5],
    ["maxWaiting", 0],
    ["logger", {}],
  ])("refuses %s: %j", (name, value) => {
    const make = () => durableQueue({ connection, [name]: value });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(`option ${name} must be`);
  });

  it("names an option that does not exist, and shows no password", () => {
    expect(() => durableQueue({ connection, attempt: 1 } as never)).toThrow(/"attempts"/);
    const wrong = () => durableQueue({ connection: "redis//:hush@127.0.0.1" });
    expect(wrong).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hush") }),
    );
  });
});
