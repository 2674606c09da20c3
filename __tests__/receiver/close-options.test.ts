import { CLOSE_RULES, settleWithin, startDeadline } from "../../lib/receiver/close-options";
import { validateOptions } from "../../lib/validation/validate-options";

describe("CLOSE_RULES", () => {
  it.each([{}, { deadlineMs: undefined }, { deadlineMs: 0 }, { deadlineMs: 60_000 }])(
    "accept %j",
    (options) => {
      expect(() => validateOptions("close", options, CLOSE_RULES)).not.toThrow();
    },
  );

  it.each([{ deadlineMs: -1 }, { deadlineMs: 1.5 }, { deadlineMs: "1s" }, { timeoutMs: 1 }, 5])(
    "reject %j",
    (options) => {
      expect(() => validateOptions("close", options as object, CLOSE_RULES)).toThrow(TypeError);
    },
  );
});

describe("settleWithin", () => {
  it("waits for work that ends, and up to the deadline for work that does not", async () => {
    let isOver = false;
    const work = new Promise<void>((resolve) => {
      setTimeout(() => {
        isOver = true;
        resolve();
      }, 30);
    });
    await settleWithin(work, { deadlineMs: 5_000 });
    expect(isOver).toBe(true);
    const startMs = performance.now();
    await settleWithin(new Promise(() => {}), { deadlineMs: 50 });
    expect(performance.now() - startMs).toBeLessThan(1_000);
  });
});

describe("startDeadline", () => {
  it("gives each step the time that is left, and none after the deadline", async () => {
    const left = startDeadline({ deadlineMs: 200 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(left().deadlineMs).toBeLessThan(160);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(left()).toEqual({ deadlineMs: 0 });
  });

  it("is 10 s by default", () => {
    expect(Math.round(startDeadline({})().deadlineMs! / 1_000)).toBe(10);
  });
});
