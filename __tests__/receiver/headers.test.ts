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
  it.each(["", "HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "post"])(
    "rejects the method %j",
    (method) => {
      expect(() => checkHeaders(head(method, { "x-service-signature": signature }), rules)).toThrow(
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
  ])("rejects the signature headers %j", (values, code) => {
    expect(() => checkHeaders(head("POST", { "x-service-signature": values }), rules)).toThrow(
      expect.objectContaining({ code }),
    );
  });

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
  ])("rejects a body with %j", (headers) => {
    const sent = { "x-service-signature": signature, "content-length": "5", ...headers };
    expect(() => checkHeaders(head("POST", sent), rules)).toThrow(
      expect.objectContaining({ code: "CONTENT_TYPE_UNSUPPORTED", status: 415 }),
    );
  });

  it("rejects an announced length over the limit", () => {
    const sent = {
      "x-service-signature": signature,
      "content-type": FORM,
      "content-length": "101",
    };
    expect(() => checkHeaders(head("POST", sent), rules)).toThrow(
      expect.objectContaining({ code: "BODY_TOO_LARGE" }),
    );
  });

  it("accepts a POST without a body and a content type; its signature is checked later", () => {
    const sent = { "x-service-signature": signature, "content-length": "0" };
    expect(checkHeaders(head("POST", sent), rules).method).toBe("POST");
  });

  it("checks the content type of a POST whose transport announces a body", () => {
    const sent = { "x-service-signature": signature };
    expect(() => checkHeaders({ ...head("POST", sent), mayHaveBody: true }, rules)).toThrow(
      expect.objectContaining({ code: "CONTENT_TYPE_UNSUPPORTED" }),
    );
  });

  it.each([{ "content-length": "1" }, { "transfer-encoding": "chunked" }])(
    "rejects a GET with %j: its signature does not cover a body",
    (headers) => {
      const sent = { "x-service-signature": signature, ...headers } as Record<string, string>;
      expect(() => checkHeaders(head("GET", sent), rules)).toThrow(
        expect.objectContaining({ code: "SIGNATURE_MISMATCH" }),
      );
    },
  );
});
