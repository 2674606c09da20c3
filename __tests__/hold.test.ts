import { inspect } from "node:util";
import { WebhookError } from "../lib/errors";
import { createHold, type HoldOptions } from "../lib/hold";

const never = () => new Promise<never>(() => {});

describe("createHold", () => {
  it("gives what the first attempt gives, synchronous or not", async () => {
    const hold = createHold();
    await expect(hold(() => 1)).resolves.toBe(1);
    await expect(hold(() => Promise.resolve(undefined))).resolves.toBeUndefined();
  });

  it("tries again until an attempt succeeds", async () => {
    let attempts = 0;
    const hold = createHold();
    const value = hold(() => {
      if (++attempts === 1) throw new Error("synchronous");
      return attempts === 2 ? Promise.reject(new Error("asynchronous")) : "up";
    });
    await expect(value).resolves.toBe("up");
    expect(attempts).toBe(3);
  });

  it("gives up after holdMs, with the last failure as the cause", async () => {
    const cause = new Error("down");
    const held = createHold({ holdMs: 60 })(() => Promise.reject(cause));
    await expect(held).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", status: 503, cause });
  });

  it.each<[string, HoldOptions, string]>([
    ["STORE_UNAVAILABLE", { holdMs: 30 }, "A store"],
    ["OVERLOADED", { maxHeld: 0 }, "a store"],
    ["TOKEN_UNAVAILABLE", { holdMs: 30, code: "TOKEN_UNAVAILABLE", what: "the resolver" }, "The"],
    ["OVERLOADED", { maxHeld: 0, code: "TOKEN_UNAVAILABLE", what: "the resolver" }, "the resolver"],
  ])("rejects with %s for %j, and a cause without arguments", async (code, options, text) => {
    const args = ["hush-identity", { metadata: "hush-metadata" }];
    const thrown = Object.assign(new Error("ERR no"), { code: "E", command: { args } });
    const error = await createHold(options)(() => Promise.reject(thrown)).catch((e: unknown) => e);
    expect(error).toMatchObject({ code, status: 503, cause: { message: "ERR no", code: "E" } });
    expect((error as Error).message).toContain(text);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("hush");
  });

  it("rejects at once with a WebhookError that an attempt threw", async () => {
    const error = new WebhookError("OVERLOADED", "too many");
    const attempt = jest.fn(() => Promise.reject(error));
    await expect(createHold()(attempt)).rejects.toBe(error);
    await expect(createHold({ maxHeld: 0 })(attempt)).rejects.toBe(error);
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it("gives up on an attempt that hangs", async () => {
    await expect(createHold({ holdMs: 30 })(never)).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
  });

  it("holds no more than maxHeld; another gets one attempt", async () => {
    const hold = createHold({ holdMs: 50, maxHeld: 2 });
    const held = [hold(never), hold(never)].map((one) => one.catch(() => "given up"));
    await expect(hold(() => 1)).resolves.toBe(1);
    const down = hold(() => Promise.reject(new Error("down")));
    await expect(down).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
    await Promise.all(held);
    await expect(hold(() => 1)).resolves.toBe(1);
  });

  it("gives one attempt no more than a moment when it is full", async () => {
    const hold = createHold({ holdMs: 2_000, maxHeld: 1 });
    const held = hold(never).catch(() => "given up");
    const startMs = performance.now();
    await expect(hold(never)).rejects.toHaveProperty("code", "OVERLOADED");
    expect(performance.now() - startMs).toBeLessThan(1_500);
    await held;
  });

  it("gives one attempt attemptWhenFullMs when it is full", async () => {
    const hold = createHold({ maxHeld: 0, attemptWhenFullMs: 600 });
    const slow = () => new Promise((resolve) => setTimeout(resolve, 400, "late"));
    await expect(hold(slow)).resolves.toBe("late");
  });

  it("pauses as long as it is told, and gives up a slow attempt for another", async () => {
    let attempts = 0;
    const hold = createHold({ holdMs: 400, attemptMs: 20, firstPauseMs: 100, longestPauseMs: 100 });
    const counted = () => {
      attempts++;
      return never();
    };
    await expect(hold(counted)).rejects.toHaveProperty("code", "STORE_UNAVAILABLE");
    expect(attempts).toBeGreaterThanOrEqual(3);
    expect(attempts).toBeLessThanOrEqual(5);
  });
});
