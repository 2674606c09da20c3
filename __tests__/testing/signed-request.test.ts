import express from "express";
import inject from "light-my-request";
import request from "supertest";
import {
  createHandlers,
  verifyPushRequest,
  type PushWebhooksOptions,
  type VerifyOptions,
} from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { createReceiver } from "../support/receivers";
import { startServer, stopServers } from "../support/servers";
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

  it("can be sent by supertest, light-my-request and fetch", async () => {
    const { push, events } = createReceiver();
    const app = express().use("/push", push);
    const sign = (method?: "GET") => signedRequest(options, "challenge.approved", {}, { method });
    const { path, headers, body = "" } = sign();
    await request(app).post(path).set(headers).send(body).expect(200);
    const get = sign("GET");
    await request(app).get(get.path).set(get.headers).expect(200);
    const { path: _, body: payload = "", ...second } = sign();
    const injected = { ...second, method: "POST", payload } as const;
    const response = await inject((req, res) => void push(req, res), injected);
    expect(response.statusCode).toBe(200);
    const { path: at, ...init } = sign();
    const sent = fetch(`http://127.0.0.1:${await startServer(app)}${at}`, init as RequestInit);
    expect(await sent).toHaveProperty("status", 200);
    expect(events).toHaveLength(4);
    await stopServers();
  });

  it("overrides parameters: objects become JSON, undefined omits one", async () => {
    const made = signedRequest(options, "challenge.denied", {
      uuid: "mine",
      entity_identity: "u1",
      challenge_details: { message: "m" },
      challenge_hidden_details: { risk: 7 },
      challenge_metadata: "not JSON",
      factor_metadata: undefined,
    });
    expect(await verifyPushRequest(made, options)).toMatchObject({
      uuid: "mine",
      entity_identity: "u1",
      challenge_details: { message: "m" },
      challenge_hidden_details: { risk: 7 },
      issues: [{ param: "challenge_metadata" }],
    });
    expect(made.body).not.toContain("factor_metadata");
    const rejected = signedRequest(options, "factor.created", { uuid: undefined });
    const code = "PAYLOAD_INVALID";
    await expect(verifyPushRequest(rejected, options)).rejects.toMatchObject({ code });
  });

  it("can have another header and content type, a type and parameters that do not exist yet", async () => {
    const settings = { ...options, signatureHeader: ["x-sig", "x-other"] };
    const contentType = "application/x-www-form-urlencoded";
    const more = { contentType, extraParams: { factor_risk_score: "12" } };
    const made = signedRequest(settings, "challenge.denied", { type: "challenge.expired" }, more);
    const agent = { "User-Agent": "express-push-verification" };
    const sent = { "x-sig": expect.any(String), "Content-Type": contentType, ...agent };
    expect(made.headers).toEqual(sent);
    const event = await verifyPushRequest(made, settings);
    expect(event.type).toBe("challenge.expired");
    expect(event.params).toContainEqual(["factor_risk_score", "12"]);
    expect(event.params.some(([name]) => name === "challenge_sid")).toBe(true);
  });

  it.each<[name: string, ...args: unknown[]]>([
    ["type", "factor.create"],
    ["type", "constructor"],
    ["type", undefined],
    ["overrides", "factor.created", null],
    ["entity_identity", "factor.created", { entity_identitty: "x" }],
    ["challenge_sid", "factor.created", { challenge_sid: "x" }],
    ["uuid must not", "factor.created", { uuid: `${crypto.randomUUID()}-retry` }],
    ["method", "factor.created", {}, { method: "PUT" }],
    ["extraParams", "factor.created", {}, { extraParams: { a: 1 } }],
    ["version", "factor.created", {}, { versio: "v1" }],
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

  it("takes the options of pushWebhooks, and uses the first value of a list", async () => {
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
