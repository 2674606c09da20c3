import { settleWithin } from "../../lib/time/closing";

describe("settleWithin", () => {
  it("waits for work that ends, and up to the deadline for work that does not", async () => {
    let isOver = false;
    const work = new Promise((resolve) => setImmediate(resolve)).then(() => (isOver = true));
    await settleWithin(work, { deadlineMs: 60_000 });
    expect(isOver).toBe(true);
    await settleWithin(new Promise(() => {}), { deadlineMs: 50 });
  });
});

describe("a deadline of work that fails", () => {
  it("leaves no timer", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    const failed = settleWithin(Promise.reject(new Error("failed")), { deadlineMs: 60_000 });
    await expect(failed).rejects.toThrow("failed");
    expect(timers()).toBe(before);
  });
});
