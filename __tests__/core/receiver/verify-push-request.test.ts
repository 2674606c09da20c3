import {
  verifyPushRequest,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { listEventPairs } from "../../../lib/core/event/event-parameters";
import { signRequest } from "../../../lib/core/signature/signed-request";
import { about, requests } from "../../fixtures/webhook-requests.json";
import {
  AUTH_TOKEN,
  eventPairs,
  eventRequest,
  PUBLIC_URL,
  signedRequestOf,
  toWebRequest,
  type TestRequest,
} from "../../support/webhook-requests";

const NAME = "x-service-signature";
const options: VerifyOptions = {
  authToken: AUTH_TOKEN,
  publicUrl: PUBLIC_URL,
  methods: ["POST", "GET"],
};
const requestOf = ({ path: url, body = "", ...rest }: TestRequest) => ({
  ...rest,
  url,
  body: rest.method === "GET" ? null : body,
});

describe("verifyPushRequest", () => {
  it.each(requests.map((request) => [request.id, request] as const))(
    "returns the event of the recorded %s, which signRequest creates",
    async (_id, { method, url, body, headers, version }) => {
      const { token: authToken, configuredUrl: publicUrl } = about;
      const params = [...new URLSearchParams(body ?? url.slice(publicUrl.length))];
      const fields = params.map(([name, text]) => [
        name,
        /metadata|details/.test(name) ? JSON.parse(text) : text,
      ]);
      const event = { ...Object.fromEntries(fields), version, params, issues: [] };
      const record = headers as Record<string, string>;
      for (const given of [record, new Headers(record)]) {
        const received = { method, url, headers: given, body };
        const settings = { ...options, authToken, publicUrl };
        expect(await verifyPushRequest(received, settings)).toEqual(event);
      }
      const pairs = listEventPairs(version as "v1" | "v2", Object.fromEntries(params));
      const signing = { authToken, webhookUrl: publicUrl, contentType: "", signatureHeader: NAME };
      const signed = signRequest({ ...signing, method: method as "GET" | "POST", params: pairs });
      expect(signed).toMatchObject({ url, body: body ?? undefined });
      expect(signed.headers[NAME]).toBe(record[NAME]);
    },
  );

  const made = eventRequest("challenge.approved");
  const request = requestOf(made);
  const form = made.body ?? "";
  const { "content-type": type = "", [NAME]: signature = "" } = made.headers;
  const respelledOne = { "Content-TYPE": type, "X-SERVICE-Signature": [signature] };

  const getRequest = eventRequest("challenge.approved", {}, { method: "GET" });
  const undefinedHeader = { ...made.headers, "transfer-encoding": undefined };
  it.each([
    ["with a string", request],
    ["with a Uint8Array", { ...request, body: new TextEncoder().encode(form) }],
    ["with a parsed form", { ...request, body: Object.fromEntries(new URLSearchParams(form)) }],
    ["as a Request", toWebRequest(made)],
    ["as a Request by GET", toWebRequest(getRequest)],
    ["with an undefined header", { ...request, headers: undefinedHeader }],
    ["with names in any case, and a list of one value", { ...request, headers: respelledOne }],
  ])("accepts a webhook request %s", async (_what, given) => {
    expect(await verifyPushRequest(given, options)).toHaveProperty("type", "challenge.approved");
  });

  const twice = { ...made.headers, [NAME]: [signature, signature] };
  const respelled = { ...made.headers, "X-Service-Signature": signature };
  const get = requestOf(getRequest);
  const values = (count: number) => ({ body: { x: Array<string>(count).fill("") } });
  it.each([
    ["two signatures", { headers: twice }, "SIGNATURE_MALFORMED"],
    ["two spellings of the header", { headers: respelled }, "SIGNATURE_MALFORMED"],
    ["no body", { body: null }, "SIGNATURE_MISMATCH"],
    ["a GET with a body", { ...get, body: "x=1" }, "SIGNATURE_MISMATCH"],
    ["a parsed form of 65,537 bytes", { body: { x: "y".repeat(65_536) } }, "BODY_TOO_LARGE"],
    ["a parsed form of 65,536 bytes", { body: { x: "y".repeat(65_535) } }, "SIGNATURE_MISMATCH"],
    ["a parsed form of 1000", values(1000), "SIGNATURE_MISMATCH"],
    ["a parsed form of 1001", values(1001), "BODY_TOO_LARGE"],
    ["half a surrogate pair in a parsed form", { body: { x: "\ud800" } }, "BODY_MALFORMED"],
    ["one in a name", { body: { "\ud800": "x" } }, "BODY_MALFORMED"],
    ["a form of numbers", { body: { a: [1] } as never }, "BODY_CONSUMED"],
    ["a list", { body: ["a"] as never }, "BODY_CONSUMED"],
  ])("rejects %s", async (_what, change, code) => {
    const verified = verifyPushRequest({ ...request, ...change }, options);
    await expect(verified).rejects.toMatchObject({ name: "WebhookError", code });
  });

  it("names a header that may hold the signature", async () => {
    const given = { ...request, headers: { "X-Acme-Signature": "x" } };
    await expect(verifyPushRequest(given, options)).rejects.toThrow("has x-acme-signature");
  });

  it("tells confirm why a request may be another event, unless its type is unknown", async () => {
    const confirm = jest.fn(() => true);
    const verify = (event: string) => {
      const received = requestOf(signedRequestOf(eventPairs(event, "v2", { zone: "eu" })));
      return verifyPushRequest(received, { ...options, confirm });
    };
    const ambiguity: unknown = expect.stringContaining("zone");
    const event = await verify("challenge.approved");
    expect(confirm.mock.calls).toEqual([[event, expect.objectContaining({ ambiguity })]]);
    await expect(verify("challenge.snoozed")).rejects.toHaveProperty("code", "PAYLOAD_AMBIGUOUS");
  });

  it("accepts the path or the whole URL of a GET", async () => {
    const publicUrl = `${PUBLIC_URL}?tenant=blue`;
    const given = eventRequest("factor.deleted", {}, { method: "GET", publicUrl });
    for (const url of [given.path, `https://elsewhere.example${given.path}`]) {
      const received = { ...requestOf(given), url };
      const { params } = await verifyPushRequest(received, { ...options, publicUrl });
      expect(params).not.toContainEqual(["tenant", "blue"]);
    }
  });

  it.each([
    [/method, a.*url, a.*headers, a/, undefined, options],
    [/headers, a/, { method: "POST", url: "/", headers: null }, options],
    [/url, a/, { method: "POST", headers: {} }, options],
    [/^verifyPushRequest: options must be an object/, {}],
  ])("rejects with a TypeError that names what is missing: %s for %j", async (...row) => {
    const [message, ...given] = row;
    const verified = Reflect.apply(verifyPushRequest, undefined, given);
    const found = { name: "TypeError", message: expect.stringMatching(message) as string };
    await expect(verified).rejects.toMatchObject(found);
  });

  it("shares one budget for explanations, for all options", async () => {
    // After the window of the requests above.
    const clock = jest.spyOn(performance, "now").mockReturnValue(performance.now() + 60_001);
    for (let count = 1; count <= 11; count++) {
      const publicUrl = `${PUBLIC_URL}/${count}`;
      const rejected = verifyPushRequest({ ...request, body: "" }, { ...options, publicUrl });
      const isExplained = await rejected.catch(
        (error: WebhookError) => error.explain() !== undefined,
      );
      expect(isExplained).toBe(count <= 10);
    }
    clock.mockRestore();
  });
});
