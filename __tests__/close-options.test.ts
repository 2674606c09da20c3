import { CLOSE_RULES } from "../lib/close-options";
import { checkOptions } from "../lib/option-rules";

describe("CLOSE_RULES", () => {
  it.each([{}, { deadlineMs: undefined }, { deadlineMs: 0 }, { deadlineMs: 60_000 }])(
    "accept %j",
    (options) => {
      expect(() => checkOptions("close", options, CLOSE_RULES)).not.toThrow();
    },
  );

  it.each([{ deadlineMs: -1 }, { deadlineMs: 1.5 }, { deadlineMs: "1s" }, { timeoutMs: 1 }, 5])(
    "reject %j",
    (options) => {
      expect(() => checkOptions("close", options as object, CLOSE_RULES)).toThrow(TypeError);
    },
  );
});
