import { type ReceiverSettings, signAcceptedRequest, type WebhookRequest } from "../core/door";
import type { PushEvent, PushEventType } from "../index";
import { FORM_CONTENT_TYPES } from "../kit/form-type";
import {
  isText,
  validateOptions,
  oneOf,
  type OptionRules,
  isMembers,
} from "../kit/validate-options";
import { listFixturePairs, type EventFixtureOptions, type EventOverrides } from "./event-fixture";

/** How an event is sent. */
export interface SignedRequestOptions<
  Version extends PushEvent["version"] = PushEvent["version"],
> extends EventFixtureOptions<Version> {
  /** @default "POST" */
  method?: "GET" | "POST" | undefined;
  /** @default "application/x-www-urlencoded", the spelling of the specification */
  contentType?: string | undefined;
  /** Parameters that the specification does not have; they are signed too. @default none */
  extraParams?: Readonly<Record<string, string>> | undefined;
}

/** A signed webhook request, as the service sends it. */
export interface SignedRequest extends WebhookRequest {
  /** The path and the query of the URL, for supertest. */
  path: string;
}

const RULES: OptionRules<SignedRequestOptions> = {
  version: oneOf("v1", "v2"),
  method: oneOf("GET", "POST"),
  contentType: { accepts: isText, expected: `such as ${FORM_CONTENT_TYPES.join(" or ")}` },
  extraParams: {
    accepts: (value) =>
      isMembers(value) && Object.values(value).every((one) => typeof one === "string"),
    expected: "an object whose values are strings",
  },
};

/**
 * Creates a signed webhook request with realistic parameters and a new uuid, which the receiver
 * accepts.
 *
 * @param overrides parameters with other values; undefined omits one.
 *
 * @example
 * const { path, headers, body } = signedRequest({ authToken, publicUrl }, "challenge.approved");
 * await request(app).post(path).set(headers).send(body).expect(200);
 *
 * @throws TypeError for a type, a parameter or an option that is unknown or impossible; WebhookError
 *   with the code and the rule by which the receiver would reject the request, such as
 *   `PAYLOAD_INVALID`, `PAYLOAD_AMBIGUOUS`, `BODY_TOO_LARGE` and `CONTENT_TYPE_UNSUPPORTED`.
 */
export function signedRequest<
  Type extends PushEventType,
  Version extends PushEvent["version"] = "v2",
>(
  settings: ReceiverSettings,
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  options: SignedRequestOptions<Version> = {},
): SignedRequest {
  validateOptions("signedRequest", options, RULES);
  const { version = "v2", method = "POST", contentType = FORM_CONTENT_TYPES[0] } = options;
  const extra = Object.entries(options.extraParams ?? {});
  const params = [...listFixturePairs(type, overrides, version), ...extra];
  const { request } = signAcceptedRequest(settings, { method, contentType, params });
  const path = request.url.replace(/^[^:]+:\/\/[^/?]*/, "").replace(/^(?!\/)/, "/");
  return { ...request, path };
}
