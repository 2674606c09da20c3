import fc from "fast-check";
import { cutText, maskIdentity } from "../../../lib/admin/console/mask";

describe("maskIdentity", () => {
  it.each([
    ["jane.doe@example.com", "jan…com"],
    ["user-7f3a-22", "us…22"],
    ["123456789", "12…9"],
    ["123456", "1…6"],
    ["123", "1…"],
    ["ab", "…"],
    ["a", "…"],
    ["", "…"],
  ])("shows %j as %j", (identity, masked) => {
    expect(maskIdentity(identity)).toBe(masked);
  });

  it("shows at most 6 characters, and at most a third of an identity", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (identity) => {
        const shown = maskIdentity(identity).length - 1;
        expect(shown).toBeLessThanOrEqual(6);
        expect(shown * 3).toBeLessThanOrEqual(identity.length);
      }),
    );
  });
});

describe("cutText", () => {
  it("keeps a text of at most 1024 characters, or of as many as are asked for", () => {
    expect(cutText("x".repeat(1_024))).toBe("x".repeat(1_024));
    expect(cutText("abc", 3)).toBe("abc");
  });

  it("marks where a longer text was cut", () => {
    expect(cutText("x".repeat(1_025))).toBe(`${"x".repeat(1_024)}…`);
    expect(cutText("abcd", 3)).toBe("abc…");
  });
});
