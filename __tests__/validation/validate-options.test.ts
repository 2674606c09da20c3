import {
  validateOptions,
  hasMethods,
  oneOf,
  suggestName,
  wholeNumber,
} from "../../lib/validation/validate-options";

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
  it("accepts values that match their rules, and undefined for optional ones", () => {
    expect(() =>
      check({ token: "right", limitBytes: 1, mode: "exact", url: undefined }),
    ).not.toThrow();
  });

  // receiver/options.test.ts has the values that each rule rejects.
  it.each<[unknown, ...string[]]>([
    [{ token: "right", limitByte: 5 }, '"limitByte"', 'Did you mean "limitBytes"?'],
    [{ token: "right", LIMITBYTES: 5 }, 'Did you mean "limitBytes"?'],
    [{ token: "right", colour: 5 }, '"colour"', "limitBytes, mode, token, url"],
    [{ token: "right", url: { deep: { er: 1 } } }, "[Object]"],
    [{ token: "right", url: "x".repeat(100) }, "…"],
    [{}, "token", "token is not set"],
    [{ token: "" }, "an empty string"],
    [{ token: [] }, "an empty array"],
    [{ token: 5 }, "a number (not shown)"],
    [undefined, "make", "nothing"],
  ])("rejects %j and says why", (options, ...words) => {
    expect(() => check(options)).toThrow(TypeError);
    for (const word of words) expect(() => check(options)).toThrow(word);
  });

  it.each([
    { token: "hush" },
    { token: ["hush", ""] },
    { token: { hush: "hush" } },
    { token: "right", url: "ftp://me:hush@host/" },
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

describe("suggestName", () => {
  it.each([
    ["publicURL", "publicUrl"],
    ["pulbicUrl", "publicUrl"],
    ["autToken", "authToken"],
    ["ab", ""],
    ["somethingElse", ""],
  ])("%s: %j", (typed, meant) => {
    const expected = meant === "" ? "" : ` Did you mean "${meant}"?`;
    expect(suggestName(typed, ["authToken", "publicUrl"])).toBe(expected);
  });

  it("suggests all names that a name is a part of", () => {
    const known = ["closeTimeoutMs", "limitBytes", "handlerTimeoutMs"];
    const meant = ' Did you mean "closeTimeoutMs" or "handlerTimeoutMs"?';
    expect(suggestName("timeout", known)).toBe(meant);
  });

  it("suggests nothing without known names", () => {
    expect(suggestName("a", [])).toBe("");
  });
});

describe("hasMethods", () => {
  it("finds methods of prototypes, and rejects values that are not objects", () => {
    expect(hasMethods(new Map(), ["get", "set"])).toBe(true);
    expect(hasMethods({ get: 5 }, ["get"])).toBe(false);
    expect(hasMethods(null, [])).toBe(false);
    expect(hasMethods("text", ["at"])).toBe(false);
  });
});
