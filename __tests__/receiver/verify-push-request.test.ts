import {
  verifyPushRequest,
  type PushRequest,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { about, requests } from "../fixtures/webhook-requests.json";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL,
  SERVICE_SID,
  signedRequestOf,
} from "../support/webhook-requests";

const options: VerifyOptions = {
  authToken: AUTH_TOKEN,
  publicUrl: PUBLIC_URL,
  methods: ["POST", "GET"],
};

function requestOf(request: {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}): PushRequest {
  return {
    method: request.method,
    url: request.path,
    headers: request.headers,
    body: request.body ?? null,
  };
}

describe("verifyPushRequest", () => {
  it.each(requests.map((request) => [request.id, request] as const))(
    "returns the event of the recorded %s",
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
    },
  );

  const request = eventRequest("challenge.approved");

  it.each<[string, PushRequest["body"]]>([
    ["a string", request.body ?? ""],
    ["a Buffer", Buffer.from(request.body ?? "")],
    ["a Uint8Array", new TextEncoder().encode(request.body)],
    ["a parsed form", Object.fromEntries(new URLSearchParams(request.body))],
  ])("accepts the body as %s", async (_what, body) => {
    const event = await verifyPushRequest({ ...requestOf(request), body }, options);
    expect(event).toHaveProperty("type", "challenge.approved");
  });

  it("accepts header names in any case, and lists of one value", async () => {
    const headers = {
      "Content-TYPE": "application/x-www-form-urlencoded",
      "X-SERVICE-Signature": [request.headers["x-service-signature"] ?? ""],
    };
    await expect(
      verifyPushRequest({ ...requestOf(request), headers }, options),
    ).resolves.toBeDefined();
  });

  const signature = request.headers["x-service-signature"] ?? "";
  const type = request.headers["content-type"] ?? "";
  it.each<[string, Partial<PushRequest>, string]>([
    [
      "two signatures",
      { headers: { "content-type": type, "x-service-signature": [signature, signature] } },
      "SIGNATURE_MALFORMED",
    ],
    [
      "two spellings of the header",
      {
        headers: {
          "content-type": type,
          "x-service-signature": signature,
          "X-Service-Signature": signature,
        },
      },
      "SIGNATURE_MALFORMED",
    ],
    ["no body", { body: null }, "SIGNATURE_MISMATCH"],
    ["bytes that are no UTF-8", { body: Buffer.from([0xff]) }, "BODY_MALFORMED"],
    ["a long parsed form", { body: { x: "y".repeat(65_537) } }, "BODY_TOO_LARGE"],
    ["a parsed form of 1000", { body: { x: Array<string>(1000).fill("") } }, "SIGNATURE_MISMATCH"],
    ["a parsed form of 1001", { body: { x: Array<string>(1001).fill("") } }, "BODY_TOO_LARGE"],
    ["half a surrogate pair in a parsed form", { body: { x: "\ud800" } }, "BODY_MALFORMED"],
    ["a nested form", { body: { a: { b: "1" } } as never }, "BODY_CONSUMED"],
  ])("rejects %s", async (_what, change, code) => {
    const verified = verifyPushRequest({ ...requestOf(request), ...change }, options);
    await expect(verified).rejects.toMatchObject({ name: "WebhookError", code });
  });

  describe("of a GET request", () => {
    const publicUrl = `${PUBLIC_URL}?tenant=blue`;
    const get = eventRequest("factor.deleted", {}, { method: "GET", publicUrl });
    const configured = { ...options, publicUrl };

    it("accepts the path or the whole URL", async () => {
      for (const url of [get.path, `https://elsewhere.example${get.path}`]) {
        const event = await verifyPushRequest({ ...requestOf(get), url }, configured);
        expect(event.params).not.toContainEqual(["tenant", "blue"]);
      }
    });

    it.each([
      ["a body", get.path, "x=1"],
      ["one more parameter", `${get.path}&x=1`, null],
      ["another spelling", get.path.replaceAll("%27", "'"), null],
    ])("rejects %s", async (_what, url, body) => {
      const verified = verifyPushRequest({ ...requestOf(get), url, body }, configured);
      await expect(verified).rejects.toHaveProperty("code", "SIGNATURE_MISMATCH");
    });
  });

  it("rejects an event without a service when allowedServiceSids are set", async () => {
    const anonymous = signedRequestOf([
      ["uuid", "1"],
      ["type", "factor.suspended"],
      ["account_sid", ACCOUNT_SID],
    ]);
    await expect(
      verifyPushRequest(requestOf(anonymous), { ...options, allowedServiceSids: [SERVICE_SID] }),
    ).rejects.toHaveProperty("code", "ACCOUNT_NOT_ALLOWED");
  });

  it("names another signature header that is present", async () => {
    const record = { "X-Twilio-Signature": "secret-value" };
    for (const headers of [record, new Headers(record)]) {
      const verified = verifyPushRequest({ ...requestOf(request), headers }, options);
      await expect(verified).rejects.toThrow("The request has x-twilio-signature;");
    }
  });

  it.each<[unknown, string[]]>([
    [undefined, ["method", "url", "headers"]],
    [{}, ["method", "url", "headers"]],
    [{ method: "POST", url: "/", headers: null }, ["headers"]],
    [{ method: "POST", headers: {} }, ["url"]],
  ])(
    "rejects the request %j with a TypeError that names the missing part",
    async (given, missing) => {
      const verified = verifyPushRequest(given as PushRequest, options);
      await expect(verified).rejects.toThrow(TypeError);
      for (const name of missing) await expect(verified).rejects.toThrow(`${name}, a`);
    },
  );

  it("names the missing argument without options", async () => {
    const verified = Reflect.apply(verifyPushRequest, undefined, [{}]);
    await expect(verified).rejects.toThrow("verifyPushRequest: options must be an object");
  });

  it("shares one budget for explanations, for all options", async () => {
    // Whole milliseconds: a sum of fractions may be rounded down.
    let nowMs = Math.ceil(performance.now()) + 120_000;
    const clock = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
    const explain = async (index: number) => {
      const other = { authToken: `another ${index}`, publicUrl: `${PUBLIC_URL}/${index}` };
      const verified = verifyPushRequest({ ...requestOf(request), body: "" }, other);
      return ((await verified.catch((rejection: unknown) => rejection)) as WebhookError).explain();
    };
    for (let index = 0; index < 10; index++) expect(await explain(index)).toBeDefined();
    expect(await explain(10)).toBeUndefined();
    nowMs += 60_000;
    expect(await explain(11)).toBeDefined();
    clock.mockRestore();
  });
});
