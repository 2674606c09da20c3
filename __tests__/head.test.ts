import { checkHead } from "../lib/head";

const signature = "spltyRVLIB+qQr/llzKRKlLsVRc=";
const rules = { signatureHeader: "x-service-signature", limitBytes: 100 };
const FORM = "application/x-www-form-urlencoded";

function head(method: string | undefined, headers: Record<string, string | string[]>) {
  return {
    method,
    listHeader: (name: string) => [headers[name] ?? []].flat(),
    listHeaderNames: () => Object.keys(headers),
  };
}

describe("checkHead", () => {
  it.each([undefined, "", "HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "post"])(
    "refuses the method %j",
    (method) => {
      expect(() => checkHead(head(method, { "x-service-signature": signature }), rules)).toThrow(
        expect.objectContaining({ code: "METHOD_NOT_ALLOWED" }),
      );
    },
  );

  it.each([
    [[], "SIGNATURE_MISSING"],
    [[""], "SIGNATURE_MISSING"],
    [[signature, signature], "SIGNATURE_MALFORMED"],
    [[`${signature}, ${signature}`], "SIGNATURE_MALFORMED"],
    [[signature.slice(1)], "SIGNATURE_MALFORMED"],
    [["*".repeat(28)], "SIGNATURE_MALFORMED"],
  ])("refuses the signature headers %j", (values, code) => {
    expect(() => checkHead(head("POST", { "x-service-signature": values }), rules)).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it("names other signature headers when its own is missing, but none that could forge a log", () => {
    const messageOf = (names: string[]) => {
      const sent = Object.fromEntries(names.map((name) => [name, "value"]));
      try {
        return JSON.stringify(checkHead(head("POST", sent), rules));
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
  ])("takes the content type %s", (contentType) => {
    expect(
      checkHead(
        head("POST", {
          "x-service-signature": signature,
          "content-type": contentType,
          "content-length": "100",
          "content-encoding": "identity",
        }),
        rules,
      ),
    ).toEqual({ method: "POST", signature, hasBody: true });
  });

  it.each<[Record<string, string | string[]>]>([
    [{ "content-type": "application/json" }],
    [{ "content-type": "multipart/form-data; boundary=x" }],
    [{ "content-type": "text/plain" }],
    [{ "content-type": `${FORM}x` }],
    [{ "content-type": "" }],
    [{ "content-type": [FORM, FORM] }],
    [{ "content-type": `${FORM}; charset=utf-16` }],
    [{ "content-type": `${FORM}; charset=iso-8859-1` }],
    [{ "content-type": `${FORM}; charset=utf-8; charset=utf-16` }],
    [{ "content-type": `${FORM}; charset="utf-16"` }],
    [{ "content-type": FORM, "content-encoding": "gzip" }],
    [{ "content-type": FORM, "content-encoding": "BR" }],
    [{ "content-type": FORM, "content-encoding": "gzip, gzip" }],
    [{}],
  ])("refuses a body with %j", (headers) => {
    const sent = { "x-service-signature": signature, "content-length": "5", ...headers };
    expect(() => checkHead(head("POST", sent), rules)).toThrow(
      expect.objectContaining({ code: "CONTENT_TYPE_UNSUPPORTED", status: 415 }),
    );
  });

  it("refuses a body that is announced over the limit", () => {
    const sent = {
      "x-service-signature": signature,
      "content-type": FORM,
      "content-length": "101",
    };
    expect(() => checkHead(head("POST", sent), rules)).toThrow(
      expect.objectContaining({ code: "BODY_TOO_LARGE" }),
    );
  });

  it("takes a POST without a body and without a content type: its signature will tell", () => {
    const sent = { "x-service-signature": signature, "content-length": "0" };
    expect(checkHead(head("POST", sent), rules).method).toBe("POST");
  });

  it("rejects a GET whose transport cannot exclude a body, whatever its headers say", () => {
    const sent = { "x-service-signature": signature, "content-length": "0" };
    const request = { ...head("GET", sent), mayHaveBody: true };
    expect(() => checkHead(request, rules)).toThrow(
      expect.objectContaining({ code: "SIGNATURE_MISMATCH" }),
    );
    expect(checkHead({ ...request, mayHaveBody: false }, rules).hasBody).toBe(false);
  });

  it("checks the content type of a POST whose transport announces a body", () => {
    const sent = { "x-service-signature": signature };
    expect(() => checkHead({ ...head("POST", sent), mayHaveBody: true }, rules)).toThrow(
      expect.objectContaining({ code: "CONTENT_TYPE_UNSUPPORTED" }),
    );
    const form = { ...head("POST", { ...sent, "content-type": FORM }), mayHaveBody: true };
    expect(checkHead(form, rules).hasBody).toBe(true);
  });

  it("believes headers that announce a body where the transport excludes one", () => {
    const sent = { "x-service-signature": signature, "content-length": "1" };
    expect(() => checkHead({ ...head("GET", sent), mayHaveBody: false }, rules)).toThrow(
      expect.objectContaining({ code: "SIGNATURE_MISMATCH" }),
    );
  });

  it.each([{ "content-length": "1" }, { "transfer-encoding": "chunked" }])(
    "refuses a GET with %j: its signature does not cover a body",
    (headers) => {
      const sent = { "x-service-signature": signature, ...headers } as Record<string, string>;
      expect(() => checkHead(head("GET", sent), rules)).toThrow(
        expect.objectContaining({ code: "SIGNATURE_MISMATCH" }),
      );
    },
  );
});
