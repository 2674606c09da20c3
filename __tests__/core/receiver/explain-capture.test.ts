import { explainCapture } from "../../../lib/core/receiver/explain-capture";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../../support/webhook-requests";

const get = (publicUrl = PUBLIC_URL) =>
  eventRequest("factor.created", {}, { method: "GET", publicUrl });
const post = eventRequest("factor.created");
const host = "hooks.example.test";
const elsewhere = "https://other.test/push/events";

it.each<[cause: string, request: typeof post, publicUrl?: string, change?: object]>([
  ["", post],
  ["", post, PUBLIC_URL, { url: undefined }],
  ["URL_HOST", post, elsewhere],
  ["URL_PATH?", post, elsewhere, { url: undefined, signature: `${"A".repeat(27)}=` }],
  ["BODY_CUT?", { ...post, body: post.body?.replace(/_sid=VA.*/, "") }],
  ["PARAMS_MISSING?", { ...post, body: undefined }],
  ["", get(`${PUBLIC_URL}?a=1`), `${PUBLIC_URL}?a=1`],
  ["URL_HOST", get(), elsewhere],
  ["URL_QUERY_EXTRA?", get(), `${PUBLIC_URL}?a=1`],
  ["URL_QUERY_ENCODING?", { ...get(), path: "/?%zz" }],
])("finds %j in a capture of %p with publicUrl %s", (cause, request, ...given) => {
  const [publicUrl = PUBLIC_URL, change] = given;
  const { method, path: url, headers, body } = request;
  const base64 = body && Buffer.from(body).toString("base64");
  const capture = { method, url, headers: [...Object.entries(headers), ["Host", host] as const] };
  const signature = headers["x-service-signature"];
  const context = { publicUrl, authToken: AUTH_TOKEN, signature, ...change };
  const { matches, causes } = explainCapture({ ...capture, body: base64, ...change }, context);
  const [first] = causes;
  expect(matches).toBe(cause === "");
  expect(first === undefined ? "" : first.code + (first.isProven ? "" : "?")).toBe(cause);
});
