import { checkHeaders } from "../../lib/receiver/headers";

const signature = "spltyRVLIB+qQr/llzKRKlLsVRc=";
const rules = {
  methods: ["POST", "GET"] as ("POST" | "GET")[],
  signatureHeader: "x-service-signature",
  limitBytes: 100,
};
const FORM = "application/x-www-form-urlencoded";

function head(method: string, headers: Record<string, string | string[]>) {
  return {
    method,
    mayHaveBody: false,
    listHeader: (name: string) => [headers[name] ?? []].flat(),
    listHeaderNames: () => Object.keys(headers),
  };
}

describe("checkHeaders", () => {
  it("names other signature headers if its own is missing, except names that could forge a log line", () => {
    const messageOf = (names: string[]) => {
      const sent = Object.fromEntries(names.map((name) => [name, "value"]));
      try {
        return JSON.stringify(checkHeaders(head("POST", sent), rules));
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(messageOf(["x-twilio-signature"])).toContain("has x-twilio-signature;");
    expect(messageOf(["a-signature", "b-signature"])).toContain("has a-signature, b-signature;");
    const forged = ["a\nb-signature", "a b-signature", `${"a".repeat(51)}-signature`, "-signature"];
    expect(messageOf([...forged, "x-signature-old", "signature"])).toBe(messageOf([]));
    expect(messageOf(["x-service-signature-x"])).toBe(messageOf([]));
    expect(messageOf(["a-signature"])).not.toContain("value");
  });

  it.each([
    [FORM],
    ["application/x-www-urlencoded"],
    ["Application/X-WWW-Form-Urlencoded"],
    [`${FORM}; charset=utf-8`],
    [`${FORM};charset=UTF-8`],
    [`${FORM} ; Charset="utf-8" ; a=b`],
    [`${FORM}; charset=utf8`],
    [`${FORM};`],
    [`${FORM}; boundary="charset=utf-16"`],
    [String.raw`${FORM}; a="\";charset=utf-16"; charset=utf-8`],
  ])("accepts the content type %s", (contentType) => {
    expect(
      checkHeaders(
        head("POST", {
          "x-service-signature": signature,
          "content-type": contentType,
          "content-length": "100",
          "content-encoding": "identity",
        }),
        rules,
      ),
    ).toMatchObject({ method: "POST", signature, hasBody: true });
  });

  it.each<[Record<string, string | string[]>]>([
    [{ "content-type": `${FORM}x` }],
    [{ "content-type": "" }],
    [{ "content-type": `${FORM}; charset=iso-8859-1` }],
    [{ "content-type": `${FORM}; charset=utf-8; charset=utf-16` }],
    [{ "content-type": `${FORM}; charset="utf-16"` }],
    [{ "content-type": FORM, "content-encoding": "BR" }],
  ])("rejects a body with %j", (headers) => {
    const sent = { "x-service-signature": signature, "content-length": "5", ...headers };
    expect(() => checkHeaders(head("POST", sent), rules)).toThrow(
      expect.objectContaining({ code: "CONTENT_TYPE_UNSUPPORTED", status: 415 }),
    );
  });
});
