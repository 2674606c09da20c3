import { CONFIRM_FOR_MS, createConfirmation } from "../delivery/confirmation";
import { createExplainBudget } from "../signature/explain-budget";
import { addCode } from "./response";
import { createVerify } from "./verify";
import { fillVerifyDefaults, VERIFY_RULES, type VerifyOptions } from "./verify-options";
import { WebRequest } from "./web-request";
import type { IncomingRequest } from "./incoming-request";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import { validateOptions } from "../../kit/validate-options";

/** A webhook request of a platform that has no `Request` of the Web platform. */
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

// One per process: each call resolves its own settings, so a budget per settings would bound nothing.
const explainBudget = createExplainBudget();

/**
 * Authenticates and parses one webhook request without a server, for example in a serverless
 * function: a `Request` whose body is unread, or the parts of a request. It does not drop duplicates: ignore events whose `uuid` you have handled.
 *
 * An event of a type that this version does not know is returned as an {@link UnknownPushEvent};
 * `isPushEvent` distinguishes them.
 *
 * @throws TypeError for an option that is unknown or not valid, or a request without method, url or headers; WebhookError when the request must
 *   be rejected, with the `status` to respond.
 */
export async function verifyPushRequest(
  request: PushRequest | Request,
  options: VerifyOptions,
): Promise<PushEvent | UnknownPushEvent> {
  validateOptions("verifyPushRequest", options, VERIFY_RULES);
  const settings = fillVerifyDefaults("verifyPushRequest", options);
  assertRequest(request);
  const incoming = "bodyUsed" in request ? new WebRequest(request, settings) : readGiven(request);
  try {
    const verify = createVerify(settings, explainBudget);
    const { event, needsConfirmation, ambiguity } = await verify(incoming);
    if (needsConfirmation && settings.confirm !== undefined) {
      const deadlineAtMs = performance.now() + CONFIRM_FOR_MS;
      await createConfirmation(settings.confirm)(event, ambiguity, deadlineAtMs);
    }
    return event;
  } catch (error) {
    throw addCode(error);
  }
}

function assertRequest(request: unknown): void {
  const { method, url, headers } = Object(request) as Record<keyof PushRequest, unknown>;
  const missing = [
    ...(typeof method === "string" ? [] : ["method, a string"]),
    ...(typeof url === "string" ? [] : ["url, a string"]),
    ...(typeof headers === "object" && headers !== null ? [] : ["headers, an object"]),
  ];
  if (missing.length === 0) return;
  throw new TypeError(
    `verifyPushRequest: request must be a Request or { method, url, headers, body }; missing: ${missing.join("; ")}.`,
  );
}

/** Returns the request of a platform that has no `Request`. */
export function readGiven({ method, url, headers, body }: PushRequest): IncomingRequest {
  const isRecord = typeof headers.get !== "function";
  const record = headers as Readonly<Record<string, string | string[] | undefined>>;
  const entries = isRecord ? Object.entries(record) : [...(headers as Headers)];
  return {
    method,
    target: url,
    remoteAddress: undefined,
    mayHaveBody: false,
    readBody: () => body ?? "",
    listHeader: (name) =>
      entries.flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : [])),
    listHeaders: () => entries.map(([key, value]) => [key, String(value)]),
  };
}
