import { WebhookError } from "express-push-verification";
import { describeCause } from "../../lib/errors/describe-cause";

const failure = (cause: unknown) => new WebhookError("HANDLER_FAILED", "failed", { cause });

describe("describeCause", () => {
  it("returns name, message and stack frames of a cause and of its own causes, without arguments", () => {
    const root = Object.assign(new RangeError("refused"), { args: ["hush"] });
    const text = describeCause(failure(new TypeError("not saved\nhush", { cause: root })));
    expect(text).toMatch(/^TypeError: not saved\n {4}at .*describe-cause\.test/);
    expect(text).toMatch(/\nCaused by: RangeError: refused\n {4}at .*describe-cause\.test/);
    expect(text).not.toContain("hush");
  });

  it("describes the first 3 errors of an AggregateError", () => {
    const errors = ["one", "two", "three", "four"].map((message) => new Error(message));
    const text = describeCause(failure(new AggregateError(errors))) ?? "";
    expect(text.match(/^Error: \w+$/gm)).toEqual(["Error: one", "Error: two", "Error: three"]);
  });

  it.each<[string, unknown, string]>([
    ["a string", "down", "Error: down"],
    ["no Error", 7, "Error: The thrown value is not an Error."],
    [
      "an unreadable value",
      new Proxy({}, { get: hush }),
      "Error: The thrown value cannot be read.",
    ],
    [
      "an AggregateError whose errors are unreadable",
      Object.defineProperty(new AggregateError([]), "errors", { get: hush }),
      "The cause cannot be read.",
    ],
  ])("describes %s without stack frames", (_what, cause, expected) => {
    expect(describeCause(failure(cause))).toBe(expected);
  });

  it.each([
    ["without a cause", new WebhookError("BODY_CONSUMED", "consumed")],
    ["whose cause is undefined", failure(undefined)],
  ])("returns undefined for an error %s", (_what, error) => {
    expect(describeCause(error)).toBeUndefined();
  });
});

function hush(): never {
  throw new Error("hush");
}
