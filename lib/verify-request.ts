import { readGivenBody } from "./body";
import { createExplainBudget } from "./explain-budget";
import { checkHead, uncoveredBody, type RequestHead } from "./head";
import { joinReceivedUrl } from "./request";
import { resolveVerifyOptions, type VerifyOptions } from "./verify-options";
import type { PushEvent, UnknownPushEvent } from "./event";
import { createCoverGet, createCoverPost } from "./signed-parts";
import { createVerifyRequest } from "./verify";

/** A request as any platform gives it. */
export interface PushRequest {
  /** `"POST"` or `"GET"`. */
  method: string;
  /** The URL or the path that was called, with its query. Needed for GET alone. */
  url: string;
  /** A Headers object, or a record; names in any case. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * The body as received: bytes or a string. A form that a parser has decoded will do, if it is
   * flat. Decode base64 first.
   */
  body?:
    string | Uint8Array | Readonly<Record<string, string | readonly string[]>> | null | undefined;
}

/** One for the process: each request makes its settings anew, and keys for them would be unbounded. */
const explainBudget = createExplainBudget();

/**
 * Verifies and parses one call where there is no Express: in a serverless function, say. It keeps
 * no memory: drop events whose `uuid` you have handled.
 *
 * An event of a type that this version does not know is returned as an {@link UnknownPushEvent}:
 * `isPushEvent` tells them apart.
 *
 * @throws TypeError for an option that is unknown or impossible; WebhookError for a call to refuse,
 *   with the `status` to answer.
 */
export async function verifyPushRequest(
  request: PushRequest,
  options: VerifyOptions,
): Promise<PushEvent | UnknownPushEvent> {
  const settings = resolveVerifyOptions("verifyPushRequest", options);
  const { method, url, headers, body } = request;
  const given = {
    method,
    listHeader: listHeadersOf(headers),
    listHeaderNames: () => listHeaderNamesOf(headers),
  };
  const head = checkHead(given, settings);
  const params = readGivenBody(body, settings.limitBytes);
  if (head.method === "GET" && params.length > 0) throw uncoveredBody();
  const { publicUrls, urlMatching } = settings;
  const alternatives =
    head.method === "GET"
      ? createCoverGet(publicUrls, urlMatching)(url)
      : createCoverPost(publicUrls, urlMatching)(params);
  const { event } = await createVerifyRequest(settings, explainBudget)(head, alternatives, {
    readUrl: () => joinReceivedUrl(given, url),
    readBody: () => body,
  });
  return event;
}

function listHeadersOf(headers: PushRequest["headers"]): RequestHead["listHeader"] {
  if (typeof headers.get === "function") {
    const { get } = headers as Headers;
    return (name) => {
      const value = get.call(headers, name);
      return value === null ? [] : [value];
    };
  }
  const entries = Object.entries(
    headers as Readonly<Record<string, string | string[] | undefined>>,
  );
  return (name) =>
    entries.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
}

function listHeaderNamesOf(headers: PushRequest["headers"]): readonly string[] {
  return typeof headers.get === "function"
    ? [...(headers as Headers).keys()]
    : Object.keys(headers).map((name) => name.toLowerCase());
}
