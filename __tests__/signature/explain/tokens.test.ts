import { fingerprint, listTokenVariants } from "../../../lib/signature/explain/tokens";

const listed = (...given: Parameters<typeof listTokenVariants>) =>
  listTokenVariants(...given).map(({ value, causes }) => [value].concat(causes));

describe("listTokenVariants", () => {
  it("lists tokens as given, trimmed, and the candidates", () => {
    expect(listed({ authToken: [" a\n", "b"], candidateTokens: { AC1: "c", AC2: '"d"' } })).toEqual(
      [
        [" a\n"],
        ["b"],
        ["a", "TOKEN_WHITESPACE"],
        ["c", "TOKEN_OTHER"],
        ['"d"', "TOKEN_OTHER"],
        ["d", "TOKEN_OTHER"],
      ],
    );
  });

  it("shows a candidate token as its fingerprint and its name", () => {
    const [, other] = listTokenVariants({ authToken: "a", candidateTokens: { AC1: "hush-token" } });
    expect(other?.subject).toBe(`${fingerprint("hush-token")} (AC1)`);
    expect(fingerprint("hush-token")).toMatch(/^[0-9a-f]{8}$/);
  });

  it("requires a token, and tries up to 50", () => {
    expect(() => listTokenVariants({ authToken: ["", ""] })).toThrow(TypeError);
    const many = Array.from({ length: 1_000 }, (_, index) => `t${index}`);
    expect(listed({ authToken: many, candidateTokens: many })).toHaveLength(50);
  });
});
