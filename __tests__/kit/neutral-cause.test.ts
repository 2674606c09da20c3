import { inspect } from "node:util";
import { WebhookError } from "express-push-verification";
import { createNeutralCause, describeCause } from "../../lib/kit/neutral-cause";

const show = (error: unknown) => inspect(error, { depth: 10, showHidden: true });

describe("createNeutralCause", () => {
  it("keeps only name, message, code and stack frames", () => {
    const thrown = Object.assign(new RangeError("ERR syntax"), {
      code: 11_000,
      command: { name: "eval", args: ["hush"] },
      parameters: ["hush"],
      detail: "Key (uuid)=(hush) already exists.",
    });
    const cause = createNeutralCause(thrown);
    expect(cause).toMatchObject({ name: "RangeError", message: "ERR syntax", code: 11_000 });
    expect(cause.stack).toMatch(/^RangeError: ERR syntax\n {4}at .*neutral-cause\.test/);
    expect(show(cause)).not.toContain("hush");
  });

  const escaped = String.raw`\u001b[31m\u009b0m\u0085\u202e!`;
  it.each([
    ["a message that begins with a line break", "\n  first\nhush", "first"],
    ["a line like a stack frame", "first\n    at hush", "first"],
    ["no message", "", ""],
    ["control characters", "\u001B[31m\u009B0m\u0085\u202E!", escaped],
    ["501 characters", "x".repeat(501), `${"x".repeat(500)}…`],
  ])("keeps the first line of a message, up to 500 characters: %s", (_what, message, kept) => {
    const cause = createNeutralCause(new Error(message));
    expect(cause.message).toBe(kept);
    expect(show(cause)).not.toContain("hush");
    expect(cause.stack?.split("\n")[1]).toContain("neutral-cause.test");
  });

  it("shortens what is longer than usual", () => {
    const frame = "    at \u202Ea";
    const frames = [`    at ${"x".repeat(301)}`, ...Array(11).fill(frame)];
    const [name, code] = ["\u202En".repeat(51), "c".repeat(101)];
    const stack = ["Error: m", ...frames].join("\n");
    const { stack: kept, ...cause } = createNeutralCause({ name, message: "m", code, stack });
    expect(cause).toMatchObject({ code: code.slice(1) });
    expect(kept?.split("\n")).toEqual([
      `${String.raw`\u202en`.repeat(50)}: m`,
      ...Array(10).fill(String.raw`    at \u202ea`),
    ]);
  });

  it("omits the frames of a stack that does not contain the message", () => {
    const thrown = new Error("other");
    thrown.stack = "Error: one\n    at hush\n    at other";
    expect(createNeutralCause(thrown).stack).toBe("Error: other");
  });

  it("copies nested causes", () => {
    const root = Object.assign(new Error("ECONNREFUSED"), { args: ["hush"] });
    const cause = createNeutralCause(new TypeError("fetch failed", { cause: root }));
    expect(cause.cause).toMatchObject({ message: "ECONNREFUSED" });
    expect(show(cause)).not.toContain("hush");
  });

  it("stops at a circular cause", () => {
    const root = new Error("ECONNREFUSED");
    root.cause = root;
    let count = 0;
    for (let one: unknown = createNeutralCause(root); one instanceof Error; one = one.cause)
      count++;
    expect(count).toBe(3);
  });

  it.each<[string, unknown, string]>([
    ["a string", "down", "down"],
    ["an object like an Error", { message: "down", args: ["hush"] }, "down"],
    ["members of other types", { message: "down", name: 5, stack: 5, code: {} }, "down"],
    [
      "a getter that throws",
      {
        get message() {
          throw new Error("hush");
        },
      },
      "The thrown value is not an Error.",
    ],
    ["undefined", undefined, "The thrown value is not an Error."],
    ["an object", { hush: "hush" }, "The thrown value is not an Error."],
  ])("creates an Error for %s", (_what, thrown, message) => {
    const cause = createNeutralCause(thrown);
    expect(cause).toBeInstanceOf(Error);
    expect(cause.message).toBe(message);
    expect(show(cause)).not.toContain("hush");
  });
});

const failure = (cause: unknown) => new WebhookError("HANDLER_FAILED", "failed", { cause });

describe("describeCause", () => {
  it("returns only name, message and stack frames of each nested cause", () => {
    const root = Object.assign(new RangeError("refused"), { args: ["hush"] });
    const text = describeCause(failure(new TypeError("not saved\nhush", { cause: root })));
    expect(text).toMatch(/^TypeError: not saved\n {4}at .*neutral-cause\.test/);
    expect(text).toMatch(/\nCaused by: RangeError: refused\n {4}at .*neutral-cause\.test/);
    expect(text).not.toContain("hush");
  });

  it("describes the first 3 errors of an AggregateError", () => {
    const errors = ["one", "two", "three", "four"].map((message) => new Error(message));
    const text = describeCause(failure(new AggregateError(errors))) ?? "";
    expect(text.match(/^Error: \w+$/gm)).toEqual(["Error: one", "Error: two", "Error: three"]);
  });

  it("returns undefined for an error without a cause", () => {
    expect(describeCause(failure(undefined))).toBeUndefined();
  });
});
