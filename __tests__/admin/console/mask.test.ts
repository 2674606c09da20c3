import fc from "fast-check";
import { eventFixture } from "express-push-verification/testing";
import { createPseudonym, maskIdentity, maskValues } from "../../../lib/admin/console/mask";
import { cutText } from "../../../lib/form/text";

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

  it("does not cut within a character", () => {
    expect(cutText("ab😀d", 3)).toBe("ab…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, count) => {
        expect(cutText(text, count).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe("createPseudonym", () => {
  it("is the same for one identity, differs for others, and does not hold it", () => {
    const first = createPseudonym("jane.doe@example.com");
    expect(first).toMatch(/^[0-9a-f]{8}$/);
    expect(createPseudonym("jane.doe@example.com")).toBe(first);
    expect(createPseudonym("john.doe@example.com")).not.toBe(first);
  });
});

describe("maskValues", () => {
  const event = eventFixture("challenge.approved", {
    uuid: "evt-1",
    entity_identity: "jane.doe+1@example.com",
    challenge_details: JSON.stringify({
      message: 'Pay "Müller"',
      fields: [{ value: "12 Elm St" }],
    }),
  });

  it.each([
    ["no user jane.doe+1@example.com", "no user <entity_identity>"],
    ["GET /users/jane.doe%2B1%40example.com: 404", "GET /users/<entity_identity>: 404"],
    ["no user JANE.DOE+1@EXAMPLE.COM here", "no user <entity_identity> here"],
    ["event evt-1 failed, evt-12 did not", "event <uuid> failed, evt-12 did not"],
    ['text Pay "Müller" to 12 elm st', "text <challenge_details> to <challenge_details>"],
    ['{"text":"Pay \\"Müller\\""}', '{"text":"<challenge_details>"}'],
    ["challenge.approved of push failed", "challenge.approved of push failed"],
  ])("masks %j as %j", (text, masked) => {
    expect(maskValues(text, event, false)).toBe(masked);
  });

  it("masks the start of a value where the text was cut", () => {
    expect(maskValues("no user jane.doe+1@exa", event, true)).toBe("no user <entity_identity>");
    expect(maskValues("no user known", event, true)).toBe("no user known");
  });
});
