import { settleWithin, startDeadline } from "../../lib/time/close-options";

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

describe("startDeadline", () => {
  it("gives each step the time that is left, and none after the deadline", async () => {
    let nowMs = 1_000;
    const clock = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
    const left = startDeadline({ deadlineMs: 200 });
    nowMs += 50;
    expect(left()).toEqual({ deadlineMs: 150 });
    nowMs += 200;
    expect(left()).toEqual({ deadlineMs: 0 });
    clock.mockRestore();
  });

  it("is 10 s by default", () => {
    expect(Math.round(startDeadline({})().deadlineMs! / 1_000)).toBe(10);
  });
});
