import { settleWithin } from "../../lib/time/closing";

describe("a deadline of work that fails", () => {
  it("leaves no timer", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    const failed = settleWithin(Promise.reject(new Error("failed")), { deadlineMs: 60_000 });
    await expect(failed).rejects.toThrow("failed");
    expect(timers()).toBe(before);
  });
});
