import { randomUUID } from "node:crypto";
import { sign, type Pair, type PushEventType } from "express-push-verification";

export const AUTH_TOKEN = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
export const PUBLIC_URL = "https://hooks.example.test/push/events";

export const ACCOUNT_SID = "AC3c39f4e8dd93bc08628b7433542b06e2";
export const SERVICE_SID = "VA42251e058e7cf202ea951d873b7fe627";
export const FACTOR_SID = "YFd60126124f552c15e13240814185e494";
export const CHALLENGE_SID = "YCb0977f3f759c742acc1f94257f7974b0";

/** Lists the parameters of an event as the service sends them; undefined omits one. */
export function eventPairs(
  type: string,
  version: "v1" | "v2" = "v2",
  overrides: Record<string, string | undefined> = {},
): Pair[] {
  const challenge = type.startsWith("challenge.");
  const params: Record<string, string | undefined> = {
    uuid: randomUUID(),
    type,
    account_sid: ACCOUNT_SID,
    service_sid: SERVICE_SID,
    entity_identity: "user-7f3a-22",
    factor_sid: FACTOR_SID,
    ...(challenge && { challenge_sid: CHALLENGE_SID }),
    ...(version === "v2" && {
      factor_type: "push",
      factor_friendly_name: "Zoë's phone",
      factor_metadata: '{"os":"Android"}',
      ...(challenge && {
        challenge_details:
          '{"message":"Approve 250 €?","date":"2024-03-05T10:20:30Z","fields":[{"label":"City","value":"Köln & Bonn"}]}',
        challenge_hidden_details: '{"ip":"203.0.113.77"}',
        challenge_metadata: '{"biometrics":"face"}',
      }),
    }),
    ...overrides,
  };
  return Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
}

/** A webhook request to send in a test. */
export interface TestRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export interface TestRequestOptions {
  authToken?: string;
  publicUrl?: string;
  method?: "POST" | "GET";
  contentType?: string;
}

/** Signs a webhook request with these parameters. */
export function signedRequestOf(
  params: readonly Pair[],
  options: TestRequestOptions = {},
): TestRequest {
  const { authToken = AUTH_TOKEN, publicUrl = PUBLIC_URL, method = "POST" } = options;
  const { contentType = "application/x-www-urlencoded" } = options;
  const form = encodeForm(params);
  const path = publicUrl.replace(/^https?:\/\/[^/]*/, "").replace(/#.*/, "");
  if (method === "GET") {
    const suffix = (publicUrl.includes("?") ? "&" : "?") + form;
    const signature = sign({ authToken, url: publicUrl + suffix, params: [] });
    return {
      method,
      path: path + suffix,
      headers: { "x-service-signature": signature },
      body: undefined,
    };
  }
  const signature = sign({ authToken, url: publicUrl, params });
  return {
    method,
    path,
    headers: { "content-type": contentType, "x-service-signature": signature },
    body: form,
  };
}

/** Signs a webhook request of a type, with realistic parameters. */
export function eventRequest(
  type: PushEventType,
  overrides: Record<string, string | undefined> = {},
  options: TestRequestOptions & { version?: "v1" | "v2" } = {},
): TestRequest {
  return signedRequestOf(eventPairs(type, options.version, overrides), options);
}

/** The same request for `push.fetch`. */
export function toWebRequest({ method, path, headers, body = "" }: TestRequest): Request {
  const url = new URL(path, PUBLIC_URL);
  return new Request(url, { method, headers, ...(method !== "GET" && { body }) });
}

export function encodeForm(params: readonly Pair[]): string {
  return params.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

function encode(text: string): string {
  // fetch encodes an apostrophe in a URL, so a GET request must be signed with it encoded.
  return encodeURIComponent(text).replaceAll("'", "%27");
}
