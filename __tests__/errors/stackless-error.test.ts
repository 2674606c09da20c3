import { StacklessError } from "../../lib/errors/stackless-error";

describe("StacklessError", () => {
  it("has no stack frames, and leaves those of other errors", () => {
    const { stackTraceLimit } = Error;
    expect(new StacklessError("what is wrong").stack).toBe("Error: what is wrong");
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    expect(new Error("other").stack).toContain("\n    at ");
  });

  it("can be created where Error is frozen", () => {
    Object.defineProperty(Error, "stackTraceLimit", { writable: false });
    try {
      expect(new StacklessError("what is wrong").message).toBe("what is wrong");
    } finally {
      Object.defineProperty(Error, "stackTraceLimit", { writable: true });
    }
  });
});
