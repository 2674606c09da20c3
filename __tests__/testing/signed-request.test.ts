import express from "express";
import request from "supertest";
import {
  createHandlers,
  verifyPushRequest,
  type PushWebhooksOptions,
  type VerifyOptions,
} from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { createReceiver } from "../support/receivers";
import {
  ACCOUNT_SID,
  AUTH_TOKEN as authToken,
  PUBLIC_URL as publicUrl,
} from "../support/webhook-requests";

const methods: VerifyOptions["methods"] = ["POST", "GET"];
const options = { authToken, publicUrl, methods };
describe("signedRequest", () => {
  it.each([
    ["challenge.approved", "v1", "POST", ""],
    ["factor.deleted", "v2", "POST", "?tenant=it's"],
    ["challenge.denied", "v2", "GET", "?tenant=it's"],
  ] as const)("creates %s of %s by %s to %j", async (type, version, method, query) => {
    const given = { ...options, publicUrl: publicUrl + query };
    const made = signedRequest(given, type, {}, { version, method });
    expect(await verifyPushRequest(made, given)).toMatchObject({ type, version, issues: [] });
  });

  it.each([
    ["https://a.test", "/"],
    ["https://a.test/", "/"],
    ["https://a.test?b=c", "/?b=c"],
    ["https://a.test/push", "/push"],
    ["https://a.test:8443/push?b=c", "/push?b=c"],
  ])("to %s has the path %s", (url, path) => {
    expect(signedRequest({ ...options, publicUrl: url }, "factor.created").path).toBe(path);
  });

  it("can be sent by supertest", async () => {
    const { push, events } = createReceiver();
    const app = express().use("/push", push);
    const { path, headers, body } = signedRequest(options, "challenge.approved");
    await request(app).post(path).set(headers).send(body).expect(200);
    const get = signedRequest(options, "challenge.approved", {}, { method: "GET" });
    await request(app).get(get.path).set(get.headers).expect(200);
    expect(events).toHaveLength(2);
  });

  it("overrides parameters: objects become JSON, undefined omits one", async () => {
    const made = signedRequest(options, "challenge.denied", {
      uuid: "mine",
      entity_identity: " u1",
      factor_friendly_name: "",
      challenge_details: { message: "m" },
      challenge_hidden_details: { risk: 7 },
      challenge_metadata: "not JSON",
      factor_metadata: undefined,
    });
    expect(await verifyPushRequest(made, options)).toMatchObject({
      uuid: "mine",
      entity_identity: " u1",
      factor_friendly_name: "",
      challenge_details: { message: "m" },
      challenge_hidden_details: { risk: 7 },
      issues: [{ param: "challenge_metadata" }],
    });
    expect(made.body).not.toContain("factor_metadata");
  });

  it("can have another header and content type", async () => {
    const settings = { ...options, signatureHeader: ["x-sig", "x-other"] };
    const contentType = "application/x-www-form-urlencoded";
    const made = signedRequest(settings, "challenge.denied", {}, { contentType });
    const agent = { "User-Agent": "express-push-verification" };
    const sent = { "x-sig": expect.any(String), "Content-Type": contentType, ...agent };
    expect(made.headers).toEqual(sent);
    expect(await verifyPushRequest(made, settings)).toHaveProperty("type", "challenge.denied");
  });

  it("can have a type and parameters that do not exist yet", async () => {
    const more = { extraParams: { factor_risk_score: "12" } };
    const made = signedRequest(options, "challenge.denied", { type: "challenge.expired" }, more);
    const event = await verifyPushRequest(made, options);
    expect(event.type).toBe("challenge.expired");
    expect(event.params).toContainEqual(["factor_risk_score", "12"]);
    expect(event.params.some(([name]) => name === "challenge_sid")).toBe(true);
  });

  it.each<[code: string, overrides: object, more?: object, settings?: object]>([
    ["PAYLOAD_INVALID", { uuid: undefined }],
    ["PAYLOAD_INVALID", { uuid: "u".repeat(257) }],
    ["PAYLOAD_INVALID", { entity_identity: "" }],
    ["PAYLOAD_INVALID", { factor_sid: "YF1" }],
    ["PAYLOAD_INVALID", {}, { extraParams: { uuid: "second" } }],
    ["PAYLOAD_AMBIGUOUS", { challenge_details: "AccountSid=" }],
    ["PAYLOAD_AMBIGUOUS", { entity_identity: "entity_identity" }],
    ["PAYLOAD_AMBIGUOUS", {}, { extraParams: { a: "x" } }],
    ["PAYLOAD_AMBIGUOUS", {}, { method: "GET", extraParams: { z: "x" } }],
    ["BODY_TOO_LARGE", { factor_metadata: "a".repeat(70_000) }],
    ["BODY_TOO_LARGE", {}, {}, { limitBytes: 100 }],
    ["CONTENT_TYPE_UNSUPPORTED", {}, { contentType: "application/json" }],
    ["SIGNATURE_MISMATCH", {}, { method: "GET" }, { publicUrl: `${publicUrl}?` }],
  ])("throws %s, which the receiver would respond with (%#)", (code, overrides, ...rest) => {
    const [more, settings] = rest;
    const make = () =>
      signedRequest({ ...options, ...settings }, "challenge.approved", overrides, more);
    expect(make).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ["extraParameters", { extraParameters: ["a"] }, {}, { extraParams: { a: "x" } }],
    ["confirm", { confirm: () => true }, { challenge_details: "AccountSid=" }, {}],
    ["limitBytes", { limitBytes: 80_000 }, { factor_metadata: "a".repeat(70_000) }, {}],
  ])("knows the option %s of the receiver", async (_name, settings, overrides, more) => {
    const given = { ...options, ...settings };
    const made = signedRequest(given, "challenge.approved", overrides, more);
    expect(await verifyPushRequest(made, given)).toHaveProperty("type", "challenge.approved");
  });

  it.each<[name: string, ...args: unknown[]]>([
    ['mean "factor.created"', "factor.create"],
    ["type", "constructor"],
    ["type", undefined],
    ["overrides", "factor.created", null],
    ["overrides", "factor.created", 5],
    ['mean "entity_identity"', "factor.created", { entity_identitty: "x" }],
    ["challenge_sid", "factor.created", { challenge_sid: "x" }],
    ["well-formed", "factor.created", { entity_identity: "\ud800" }, { method: "GET" }],
    ["limitBytes", "factor.created", {}, {}, { limitBytes: "1" }],
    ["uuid must not", "factor.created", { uuid: `${crypto.randomUUID()}-retry` }],
    ["signedRequest: option method", "factor.created", {}, { method: "PUT" }],
    ["contentType", "factor.created", {}, { contentType: "" }],
    ["extraParams", "factor.created", {}, { extraParams: { a: 1 } }],
    ["extraParams", "factor.created", {}, { extraParams: ["a"] }],
    ["version", "factor.created", {}, { version: "v3" }],
    ["authToken", "factor.created", {}, {}, { authToken: undefined }],
    ["publicUrl", "factor.created", {}, {}, { publicUrl: "/push" }],
    ["...options, authToken", "factor.created", {}, {}, { authToken: () => authToken }],
    ["authToken", "factor.created", {}, {}, { authToken: { s3cret: "s3cret" } }],
  ])("rejects a wrong argument and names %s", (name, ...args) => {
    const [type, overrides, more, settings] = args as [never, never, never, object?];
    const make = () => signedRequest({ ...options, ...settings }, type, overrides, more);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(name);
    expect(make).not.toThrow(/s3cret/);
  });

  it("uses the first value of each list in the options of pushWebhooks", async () => {
    const settings: PushWebhooksOptions = {
      authToken: [authToken, "old"],
      publicUrl: [publicUrl, "https://old.example.test/push"],
      name: "login",
      handlers: createHandlers(),
      allowedAccountSids: [ACCOUNT_SID],
      dedupe: false,
      signatureHeader: undefined,
    };
    const made = signedRequest(settings, "factor.created");
    expect(made.headers["Content-Type"]).toBe("application/x-www-urlencoded");
    expect(await verifyPushRequest(made, options)).toHaveProperty("type", "factor.created");
  });

  it("accepts only overrides of the type and the version", () => {
    const v1 = { version: "v1" } as const;
    // @ts-expect-error v1 has no metadata.
    const make = () => signedRequest(options, "factor.created", { factor_metadata: {} }, v1);
    expect(make).toThrow(/factor_metadata/);
    // @ts-expect-error A factor has no challenge.
    expect(() => signedRequest(options, "factor.created", { challenge_details: "" })).toThrow();
  });
});
