/** The rules of options that several functions have. */
import { isHostname } from "./local-server";
import { isSid } from "./sid";
import { hasMethods, MAX_TIMER_MS, wholeNumber, type OptionRule } from "./validate-options";

export const HEADER_NAME: OptionRule = {
  accepts: (value) => typeof value === "string" && /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(value),
  expected: 'the name of a header, such as "X-Service-Signature"',
};

export const HOSTNAMES: OptionRule = {
  accepts: (value) => Array.isArray(value) && value.every(isHostname),
  expected: 'a list of host names without port, such as ["staff.example.com"]',
};

export const LOGGER: OptionRule = {
  accepts: (value) => hasMethods(value, ["debug", "info", "warn", "error"]),
  expected: "an object with the methods debug, info, warn and error, such as pino() or console",
};

export const FUNCTION: OptionRule = {
  accepts: (value) => typeof value === "function",
  expected: "a function",
};

export const CONFIRM: OptionRule = {
  ...FUNCTION,
  expected: "a function (event, { signal }) that returns true or false, or a promise of it",
};

export const DURATION_MS: OptionRule = wholeNumber(1, MAX_TIMER_MS, "milliseconds");

/** Creates a rule for a SID. */
export function sidRule(prefix: "AC" | "VA"): OptionRule {
  return {
    accepts: (value) => isSid(prefix, value),
    expected: `a SID: ${prefix} and 32 hexadecimal digits`,
  };
}
