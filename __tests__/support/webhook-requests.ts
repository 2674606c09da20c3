import type { Pair, PushEventType } from "express-push-verification";
import { signRequest } from "../../lib/core/signature/signed-request";
import { listFixturePairs } from "../../lib/testing/event-fixture";

export { encodeForm } from "../../lib/kit/text";

export const AUTH_TOKEN = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
export const PUBLIC_URL = "https://hooks.example.test/push/events";

export const ACCOUNT_SID = "AC3c39f4e8dd93bc08628b7433542b06e2";
export const SERVICE_SID = "VA42251e058e7cf202ea951d873b7fe627";
export const FACTOR_SID = "YFd60126124f552c15e13240814185e494";
export const CHALLENGE_SID = "YCb0977f3f759c742acc1f94257f7974b0";

/** Lists the parameters of an event of any type as the service sends them; undefined omits one. */
export function eventPairs(
  type: string,
  version: "v1" | "v2" = "v2",
  overrides: Record<string, string | undefined> = {},
): Pair[] {
  const like = type.startsWith("challenge.") ? "challenge.approved" : "factor.created";
  const fixture = Object.fromEntries(listFixturePairs(like, {}, version));
  const params = Object.entries<string | undefined>({ ...fixture, type, ...overrides });
  return params.filter((pair): pair is [string, string] => pair[1] !== undefined);
}

export interface TestRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface TestRequestOptions {
  authToken?: string;
  publicUrl?: string;
  method?: "POST" | "GET";
  contentType?: string;
}

export function signedRequestOf(
  params: readonly Pair[],
  options: TestRequestOptions = {},
): TestRequest {
  const { authToken = AUTH_TOKEN, publicUrl: webhookUrl = PUBLIC_URL, method = "POST" } = options;
  const { contentType = "application/x-www-urlencoded" } = options;
  const signing = { authToken, webhookUrl, signatureHeader: "x-service-signature", contentType };
  const { url, headers, body } = signRequest({ ...signing, method, params });
  // As the service sends it, which is no tool of ours.
  const { "Content-Type": type, "User-Agent": _agent, ...others } = headers;
  return {
    method,
    path: url.replace(/^https?:\/\/[^/]*/, ""),
    headers: { ...(type !== undefined && { "content-type": type }), ...others },
    body,
  };
}

export function eventRequest(
  type: PushEventType,
  overrides: Record<string, string | undefined> = {},
  options: TestRequestOptions & { version?: "v1" | "v2" } = {},
): TestRequest {
  return signedRequestOf(eventPairs(type, options.version, overrides), options);
}

export function toWebRequest({ method, path, headers, body = "" }: TestRequest): Request {
  const url = new URL(path, PUBLIC_URL);
  return new Request(url, { method, headers, ...(method !== "GET" && { body }) });
}
