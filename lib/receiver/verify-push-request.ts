import { readGivenParams } from "./body";
import { createAuthenticate } from "./authenticate";
import { createExplainBudget } from "./explain-budget";
import { checkHeaders, uncoveredBody, type RequestHeaders } from "./headers";
import { createReadEvent } from "./read-event";
import { addCode } from "./rejection";
import { joinReceivedUrl } from "./request-info";
import { resolveVerifyOptions, type VerifyOptions } from "./verify-options";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { createCoverGet, createCoverPost } from "../signature/signed-parts";

/** A webhook request of any platform. */
export interface PushRequest {
  /** `"POST"` or `"GET"`. */
  method: string;
  /** The requested URL or path, with its query. Only needed for GET. */
  url: string;
  /** A Headers object, or a record with names in any case. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as received: bytes, a string, or the flat object of a form parser. Decode base64 first. */
  body?:
    string | Uint8Array | Readonly<Record<string, string | readonly string[]>> | null | undefined;
}

// One per process: settings are resolved per request, so a budget of settings would not bound.
const explainBudget = createExplainBudget();

/**
 * Authenticates and parses one webhook request without a server, for example in a serverless
 * function. It does not drop duplicates: ignore events whose `uuid` you have handled.
 *
 * An event of a type that this version does not know is returned as an {@link UnknownPushEvent};
 * `isPushEvent` distinguishes them.
 *
 * @throws TypeError for an option that is unknown or not valid; WebhookError when the request must
 *   be rejected, with the `status` to respond.
 */
export async function verifyPushRequest(
  request: PushRequest,
  options: VerifyOptions,
): Promise<PushEvent | UnknownPushEvent> {
  const settings = resolveVerifyOptions(options);
  const { method, url, headers, body } = request;
  const given = { method, ...readGivenHeaders(headers) };
  const { publicUrls, urlMatching, limitBytes } = settings;
  const authenticate = createAuthenticate(settings, explainBudget);
  const readEvidence = () => ({ url: joinReceivedUrl(given, url), body });
  try {
    const checked = checkHeaders(given, settings);
    const params = readGivenParams(body, limitBytes);
    if (checked.method === "GET" && params.length > 0) throw uncoveredBody();
    const alternatives =
      checked.method === "GET"
        ? createCoverGet(publicUrls, urlMatching)(url)
        : createCoverPost(publicUrls, urlMatching)(params);
    const authenticated = await authenticate(checked, alternatives, readEvidence);
    return createReadEvent(settings)(authenticated).event;
  } catch (error) {
    throw addCode(error);
  }
}

function readGivenHeaders(headers: PushRequest["headers"]): Omit<RequestHeaders, "method"> {
  if (typeof headers.get === "function") {
    const given = headers as Headers;
    return {
      listHeader(name) {
        const value = given.get(name);
        return value === null ? [] : [value];
      },
      listHeaderNames: () => [...given.keys()],
    };
  }
  const entries = Object.entries(
    headers as Readonly<Record<string, string | string[] | undefined>>,
  );
  return {
    listHeader: (name) =>
      entries.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : [])),
    listHeaderNames: () => entries.map(([key]) => key.toLowerCase()),
  };
}
