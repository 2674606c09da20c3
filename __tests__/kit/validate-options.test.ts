import {
  validateOptions,
  hasMethods,
  isMembers,
  oneOf,
  suggestName,
  wholeNumber,
} from "../../lib/kit/validate-options";
import { words } from "../support/attacker-texts";

const rules = {
  limitBytes: wholeNumber(1, 10, "bytes"),
  mode: oneOf("exact", "ports"),
  token: {
    accepts: (value: unknown) => value === "right",
    expected: "right",
    secret: true,
    required: true,
  },
  url: { accepts: () => false, expected: "a URL" },
};
const check = (options: unknown) => validateOptions("make", options as object as never, rules);

describe("validateOptions", () => {
  it("accepts values that match their rules", () => {
    check({ token: "right", limitBytes: 1, mode: "exact", url: undefined });
    check({ token: "right", limitBytes: 10, mode: "ports" });
  });

  // core/receiver/options.test.ts has the values that each rule rejects.
  it.each<[unknown, ...string[]]>([
    [{ token: "right", limitByte: 5 }, '"limitByte"', 'Did you mean "limitBytes"?'],
    [{ token: "right", LIMITBYTES: 5 }, 'Did you mean "limitBytes"?'],
    [{ token: "right", colour: 5 }, '"colour"', "limitBytes, mode, token, url"],
    [{ token: "right", url: { deep: { er: 1 } } }, "[Object]"],
    [{ token: "right", url: "x".repeat(81) }, "…"],
    [{ token: "right", url: "x".repeat(80) }, `${"x".repeat(80)}"`],
    [{ token: "right", url: "\u202E" }, String.raw`"\u202e"`],
    [[], "an empty array"],
    [{}, "token", "token is not set"],
    [{ token: "" }, "an empty string"],
    [{ token: [] }, "an empty array"],
    [{ token: 5 }, "a number (not shown)"],
    [undefined, "make", "nothing"],
  ])("rejects %j and says why", (options, ...parts) => {
    expect(() => check(options)).toThrow(TypeError);
    for (const part of parts) expect(() => check(options)).toThrow(part);
  });

  it.each([
    { token: "hush" },
    { token: ["hush", ""] },
    { token: { hush: "hush" } },
    { token: "right", url: "ftp://me:hush@host/" },
    { token: "right", url: `ftp://hush${"h".repeat(80)}@host/` },
    { token: "right", hus: "hush" },
    "hush",
  ])("never shows a value that may be secret: %j", (options) => {
    expect(() => check(options)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("hush") }),
    );
  });

  it.each(["__proto__", "constructor", "toString"])("rejects the option %s", (name) => {
    expect(() => check({ token: "right", ...JSON.parse(`{"${name}":1}`) })).toThrow(TypeError);
  });
});

it.each([
  ["publicURL", "authToken publicUrl", ' Did you mean "publicUrl"?'],
  ["pulbicUrl", "authToken publicUrl", ' Did you mean "publicUrl"?'],
  ["auth", "aXth", ' Did you mean "aXth"?'],
  ["abyy", "abXX", ' Did you mean "abXX"?'],
  ["somethingElse", "authToken publicUrl", ""],
  // All names that it is a part of.
  ["time", "aTime limit bTime", ' Did you mean "aTime" or "bTime"?'],
  ["a", "", ""],
])("suggestName: for %s of %s:%s", (typed, known, meant) => {
  expect(suggestName(typed, words(known))).toBe(meant);
});

it.each([
  ["WEBHOOK_URL", "publicUrl"],
  ["secret", "authToken"],
])("%s is named %s here", (name, meant) => {
  const rule = oneOf("a");
  const both = { publicUrl: rule, authToken: rule };
  const message = `Did you mean "${meant}"?`;
  expect(() => validateOptions("make", { [name]: "a" } as never, both)).toThrow(message);
});

it("isMembers accepts objects that are no list", () => {
  expect([{}, [], null, 5].map(isMembers)).toEqual([true, false, false, false]);
});

it.each([
  [new Map(), true],
  [{ get: () => {}, set: 5 }, false],
  [null, false],
  ["text", false],
])("hasMethods finds the methods of %p: %j", (value, hasGet) => {
  expect(hasMethods(value, ["get", "set"])).toBe(hasGet);
});
