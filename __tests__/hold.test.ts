import { createHold } from "../lib/hold";

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
