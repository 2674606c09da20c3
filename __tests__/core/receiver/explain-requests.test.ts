import { inspect } from "node:util";
import type { PushWebhooksOptions } from "express-push-verification";
import {
  AUTH_TOKEN,
  eventPairs,
  signedRequestOf,
  type TestRequest,
} from "../../support/webhook-requests";
import { createReceiver } from "../../support/receivers";
import { send, startServer, stopServers } from "../../support/servers";

afterEach(stopServers);

const params = eventPairs("challenge.approved");
const signed = signedRequestOf(params);

it("explains at most 10 of 40 rejected requests beside a good one", async () => {
  // Just below limitBytes, and every part of it has variants.
  const fields = Array.from({ length: 60 }, (_, index) => `p${index}=${"+a".repeat(525)}`);
  const hostile = Array<TestRequest>(20).fill({ ...signed, body: fields.join("&") });
  const { push, receive } = createReceiver();
  const explained: string[] = [];
  push.onRejected((error) => void explained.push(error.explain()?.causes[0]?.code ?? ""));
  const statuses = await Promise.all([...hostile, signed, ...hostile].map(receive));
  expect(statuses).toEqual([...Array(20).fill(403), 200, ...Array(20).fill(403)]);
  expect(explained[0]).toBe("TOKEN_WRONG");
  expect(explained.slice(10)).toEqual(Array(30).fill(""));
});

it("names a parser before the token when only the parsed body is left", async () => {
  const { push, errors } = createReceiver();
  const port = await startServer((req, res) => {
    const body = { uuid: "1", type: "factor.verified" };
    req.resume().once("end", () => push(Object.assign(req, { body }), res));
  });
  await send(port, signed);
  const causes = errors.flatMap((error) => error.explain()?.causes ?? []);
  const codes = ["BODY_PARSED", "URL_HOST", "TOKEN_WRONG", "PARAMS_ALTERED"];
  expect(causes.map(({ code }) => code)).toEqual(codes);
});

const personal = params.flatMap(([name, value]) =>
  /^(entity|.*(name|metadata|details)$)/.test(name) ? [value] : [],
);
const escape = (text: string) => text.replaceAll(/[$()*+.?[\]^{|}\\]/g, "\\$&");

async function reject(options: Partial<PushWebhooksOptions>, request: TestRequest = signed) {
  const { receive, errors } = createReceiver(options);
  await receive(request);
  const [error] = errors;
  if (error === undefined) throw new Error("It was accepted.");
  return error;
}

it("explains a form that was converted to JSON", async () => {
  const sent = eventPairs("factor.verified", "v2", { entity_identity: "a+b & c=d%20e" });
  const body = JSON.stringify(Object.fromEntries(sent));
  const report = (await reject({}, { ...signedRequestOf(sent), body })).explain();
  expect(report?.causes).toMatchObject([{ code: "BODY_JSON", isProven: true, subject: "body" }]);
  expect(JSON.stringify(report)).not.toContain("a+b");
});

const HOST = "https://hooks.example.test";
const get = signedRequestOf(params, { method: "GET" });
const signature = signed.headers["x-service-signature"] ?? "";
const withHeader = (name: string, value: string) => ({
  ...signed,
  headers: { ...signed.headers, [name]: value },
});
const [A, B] = ["0", "1"].map((digit) => `AC${digit.repeat(32)}`) as [string, string];
it.each<[string, Partial<PushWebhooksOptions>, string, ...TestRequest[]]>([
  ["a port", { publicUrl: `${HOST}:443/push/events`, urlMatching: "exact" }, "URL_PORT"],
  ["the nearest URL", { publicUrl: ["https://a.test/", `${HOST}/push/event`] }, "URL_PATH"],
  ["two signatures", {}, "SIGNATURE_REPEATED", withHeader("x-twilio-signature", signature)],
  ["a GET", { publicUrl: "https://a.test/push/events" }, "URL_HOST", get],
  ["a token of another account", { authToken: "x", allowedAccountSids: [A] }, "TOKEN_ACCOUNT"],
  ["one of two accounts", { authToken: "x", allowedAccountSids: [A, B] }, "TOKEN_WRONG"],
])("explains %s", async (_what, options, code, ...request) => {
  const error = await reject(options, ...request);
  const causes = error.explain()?.causes ?? [];
  expect(causes[0]).toMatchObject({ code });
  expect(causes.filter(({ isProven }) => isProven).length).toBeLessThan(2);
  expect(inspect([error, error.explain()], { showHidden: true, depth: 9 })).not.toMatch(
    new RegExp([AUTH_TOKEN, signature, ...personal].map(escape).join("|")),
  );
});

it.each([
  ["gzip", "gzip"],
  ["x y", "unknown"],
])("names the Content-Encoding %s as %s", async (encoding, shown) => {
  const { message } = await reject({}, withHeader("content-encoding", encoding));
  expect(message).toContain(`Content-Encoding is ${shown}.`);
});

it("a message names each proven cause", async () => {
  const two = await reject({ publicUrl: "http://hooks.example.test/push/events/" });
  expect(two.message).toMatch(/^URL_SCHEME, URL_TRAILING_SLASH: /);
  const found = `signed ${HOST}/push/events, and publicUrl is http://hooks.example.test/push/events/.`;
  expect(two.message).toContain(found);
  for (const { fix } of two.explain()?.causes ?? []) expect(two.message).toContain(fix);
});

it("the messages of three rejections name the likeliest cause", async () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
  const { receive, errors } = createReceiver({ authToken: "x" });
  for (let times = 0; times < 4; times++) await receive(signed);
  const isNamed = errors.map(({ message }) => /^Possibly [A-Z]+_[A-Z]+: /.test(message));
  expect(isNamed).toEqual([true, true, true, false]);
  now.mockRestore();
});

it("explains a GET request without the parameters in its URL", async () => {
  const request = signedRequestOf(params, { method: "GET", authToken: "y" });
  const report = JSON.stringify((await reject({}, request)).explain());
  expect(report).toContain("events?…");
  expect(report).not.toContain("entity_identity");
  for (const value of personal) expect(report).not.toContain(encodeURIComponent(value));
});

it("explains a query of publicUrl that the request does not have, without its user info", async () => {
  const publicUrl = "https://svc:hunter2@hooks.example.test/elsewhere?a=1";
  for (const [error, code] of [
    [await reject({ publicUrl, authToken: "x" }), "URL_PATH"],
    [await reject({ publicUrl }, get), "URL_QUERY_EXTRA"],
  ] as const) {
    const subject: unknown = expect.stringContaining("hooks.example.test");
    expect(error.explain()?.causes).toContainEqual(expect.objectContaining({ code, subject }));
    expect(JSON.stringify(error.explain())).not.toContain("hunter2");
  }
});

it.each([
  ["none", ["x-signature-version"], ""],
  ["the one of another vendor", ["X-Acme-Signature"], "has x-acme-signature."],
  ["three of four", ["a-signature", "b-signature", "c-signature", "d-signature"], "c-signature."],
  ["no long one, and none that forges", [`${"x".repeat(51)}-signature`, "!-signature"], ""],
])("a missing signature header names headers that may hold it: %s", async (_what, names, shown) => {
  const headers = Object.fromEntries(names.map((name) => [name, "hush"]));
  const { code, message } = await reject({}, { ...signed, headers });
  expect(code).toBe("SIGNATURE_MISSING");
  expect(message).toContain(shown);
  expect(message).not.toMatch(/hush|x{51}|!|d-signature/);
  expect(message.includes("the request has")).toBe(shown !== "");
});
