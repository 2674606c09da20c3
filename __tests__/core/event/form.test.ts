import fc from "fast-check";
import { decodeForm, MAX_PARAMETERS } from "../../../lib/core/event/form";
import { encodeForm } from "../../support/webhook-requests";
import { anyCharacter } from "../../support/any-character";
import { joinCut } from "../../support/cuts";
import { words } from "../../support/attacker-texts";

const bytes = (text: string) => Buffer.from(text, "latin1");

it.each<[form: string, ...namesAndValues: string[]]>([
  [""],
  ["&"],
  ["a", "a", ""],
  ["=1", "", "1"],
  ["&&a=1&&b=2&", "a", "1", "b", "2"],
  ["a=b=c", "a", "b=c"],
  ["a&b=c", "a", "", "b", "c"],
  ["a=1;b=2", "a", "1;b=2"],
  ["a%3Db+c=%2B%252B%26", "a=b c", "+%2B&"],
  ["__proto__=x", "__proto__", "x"],
  ["a=\xf0\x9f\x94\x90", "a", "🔐"],
  ["a=%f0%9F%94%90x&%C3%A9=+&c=3", "a", "🔐x", "é", " ", "c", "3"],
  ["e=%CC%81&\xc3\xa9=%C3%A9", "e", "\u0301", "é", "é"],
  ["\xef\xbb\xbfa=1", "\ufeffa", "1"],
  ["%EF%BB%BFa=1", "\ufeffa", "1"],
])("%j has the names and values %j", (form, ...namesAndValues) => {
  const { pairs } = decodeForm(bytes(form));
  expect(pairs.flat()).toEqual(namesAndValues);
});

it.each([
  ...words("% a=%z a=%4 a=%E0%A4%A a=%FF a=%C0%AF a=%ED%A0%80 a=%F4%90%80%80 a=%C3"),
  ...words(
    "a=%C3x%A9 %zz=1 a=%4g a=\xff a=\xc3 a=\xed\xa0\x80 a=\xc3%A9 a=1&b=2&c=% a=%C3&%A9=1 a%C3=%A9",
  ),
])("rejects %j as malformed", (form) => {
  expect(() => decodeForm(bytes(form))).toThrow(
    expect.objectContaining({ name: "FormError", reason: "malformed" }),
  );
});

it("rejects a text that no bytes decode to", () => {
  expect(() => decodeForm("a=\ud800")).toThrow(expect.objectContaining({ reason: "malformed" }));
});

it("decodes a form of any length", () => {
  const value = "é".repeat(40_000);
  const { joined } = decodeForm(`b=${encodeURIComponent(value)}&a=2`);
  expect(joined).toBe(`a2b${value}`);
});

it("reads bytes that are a part of a larger buffer", () => {
  const whole = new Uint8Array(bytes("x=0&a=1&y=2"));
  expect(decodeForm(whole.subarray(4, 7)).pairs).toEqual([["a", "1"]]);
});

it("accepts at most MAX_PARAMETERS parameters by default", () => {
  const form = "a=1&".repeat(MAX_PARAMETERS);
  expect(decodeForm(form).pairs).toHaveLength(MAX_PARAMETERS);
  const reason = { name: "FormError", reason: "too long" };
  expect(() => decodeForm(`${form}b=2`)).toThrow(expect.objectContaining(reason));
  expect(decodeForm(`${form}b=2`, MAX_PARAMETERS + 1).joined).toBe("a1b2");
});

it("returns pairs and signed text of any form", () => {
  // Few and short: many names and values begin or are equal.
  const text = fc.string({ unit: fc.oneof(fc.constantFrom("a", "=", "\uffff"), anyCharacter) });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
      const form = { pairs, joined: joinCut(pairs) };
      expect(decodeForm(Buffer.from(encodeForm(pairs)))).toEqual(form);
      expect(decodeForm(new URLSearchParams(pairs).toString())).toEqual(form);
    }),
  );
});

it.each([
  ["b=2&a=1&B=3&a=&ab=0", "B3aa1ab0b2"],
  ["a=1&a=1&a%3D=1&a=1&a", "aa1a=1"],
  ["%EF%BF%BD=1&%F0%9F%98%80=2&%ED%9F%BF=3", "\ud7ff3😀2\ufffd1"],
  ["a=%EF%BF%BD&a=%EE%80%80", "a\ue000a\ufffd"],
  ["a=%EE%80%80&a=%F4%8F%BF%BF&a=%F0%90%80%80", "a\u{10000}a\u{10ffff}a\ue000"],
])("joins %j to %j", (form, joined) => expect(decodeForm(form).joined).toBe(joined));
