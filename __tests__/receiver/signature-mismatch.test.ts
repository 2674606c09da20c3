/** The explanation of a rejected signature: its cause, without a secret or a user's data. */
import { inspect } from "node:util";
import {
  pushWebhooks,
  type PushWebhooksOptions,
  type WebhookError,
} from "express-push-verification";
import {
  AUTH_TOKEN,
  eventPairs,
  PUBLIC_URL,
  signedRequestOf,
  toWebRequest,
  type TestRequest,
} from "../support/webhook-requests";

const params = eventPairs("challenge.approved");
const good = signedRequestOf(params);
const personal = params.flatMap(([name, value]) =>
  /^(entity|.*(name|metadata|details)$)/.test(name) ? [value] : [],
);
const escape = (text: string) => text.replaceAll(/[$()*+.?[\]^{|}\\]/g, "\\$&");

/** Returns the error with which a receiver with these options rejects a request. */
async function reject(
  options: Partial<PushWebhooksOptions>,
  request: TestRequest = good,
): Promise<WebhookError> {
  const errors: WebhookError[] = [];
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
  push.onRejected((error) => void errors.push(error));
  await push.fetch(toWebRequest(request));
  const [error] = errors;
  if (error === undefined) throw new Error("It was accepted.");
  return error;
}

it.each<[string, Partial<PushWebhooksOptions>, string]>([
  ["another scheme", { publicUrl: PUBLIC_URL.replace("https", "http") }, "URL_SCHEME"],
  ["a path that only the request has", { publicUrl: "https://hooks.example.test/" }, "URL_PATH"],
  ["a token in quotes", { authToken: `"${AUTH_TOKEN}"` }, "TOKEN_WHITESPACE"],
  ["another token", { authToken: "another" }, "TOKEN_WRONG"],
  ["none of several tokens", { authToken: () => ["another", "one"] }, "TOKEN_WRONG"],
  [
    "a token of another account",
    { authToken: "x", allowedAccountSids: [`AC${"0".repeat(32)}`] },
    "TOKEN_ACCOUNT",
  ],
])("explains %s", async (_what, options, code) => {
  const error = await reject(options);
  expect(error.explain()?.causes[0]).toMatchObject({ code });
  const signature = good.headers["x-service-signature"] ?? "";
  expect(inspect([error, error.explain()], { showHidden: true, depth: 9 })).not.toMatch(
    new RegExp([AUTH_TOKEN, signature, ...personal].map(escape).join("|")),
  );
});

it("explains a GET request without the parameters in its URL", async () => {
  const request = signedRequestOf(params, { method: "GET", authToken: "y" });
  const error = await reject({ methods: ["GET"] }, request);
  const report = JSON.stringify(error.explain());
  expect(report).toContain("events?…");
  expect(report).not.toContain("entity_identity");
  for (const value of personal) expect(report).not.toContain(encodeURIComponent(value));
});

it("explains a query of publicUrl that the request does not have", async () => {
  const publicUrl = `${PUBLIC_URL}?t=1`;
  const error = await reject(
    { publicUrl, methods: ["GET"] },
    signedRequestOf(params, { method: "GET" }),
  );
  expect(error.explain()?.causes).toMatchObject([{ code: "URL_QUERY_EXTRA", subject: publicUrl }]);
});

it("shows no user info of publicUrl", async () => {
  const publicUrl = "https://svc:hunter2@hooks.example.test/elsewhere?a=1";
  const get = signedRequestOf(params, { method: "GET" });
  for (const [error, code] of [
    [await reject({ publicUrl, authToken: "x" }), "URL_PATH"],
    [await reject({ publicUrl, methods: ["GET"] }, get), "URL_QUERY_EXTRA"],
  ] as const) {
    expect(error.explain()?.causes).toContainEqual(expect.objectContaining({ code }));
    expect(JSON.stringify(error.explain())).not.toContain("hunter2");
  }
});

it("has no explanation when there is no token", async () => {
  expect((await reject({ authToken: () => undefined })).explain()).toBeUndefined();
});
