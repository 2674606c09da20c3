import { describeReasons } from "../../lib/kit/thrown-value";
import { HOSTILE_VALUES } from "../support/thrown-values";

it.each(HOSTILE_VALUES)("a dead letter has the message of %s, if any", (_what, thrown, message) => {
  expect(describeReasons(thrown)).toBe(message);
});
