import { signCall } from "../call";
import type { CallVersion } from "../call-parameters";
import type { PushEventType } from "../event";
import { FORM_CONTENT_TYPES } from "../form";
import { checkOptions, HEADER_NAME, oneOf, type OptionRules } from "../option-rules";
import { isHttpUrl } from "../url";
import { listEventParams, type EventOverrides } from "./event-params";

/**
 * The options of the receiver that the request is for. Others than these are ignored, so that the
 * options of `pushWebhooks` can be passed as they are.
 */
export interface ReceiverSettings {
  /** The auth token, or the first of a list. */
  authToken: string | readonly string[];
  /** The publicUrl, or the first of a list. */
  publicUrl: string | readonly string[];
  /** @default "X-Service-Signature" */
  signatureHeader?: string | undefined;
}

/** How a request is written. */
export interface SignedRequestOptions<Version extends CallVersion = CallVersion> {
  /** @default "v2" */
  version?: Version | undefined;
  /** @default "POST" */
  method?: "GET" | "POST" | undefined;
  /** @default "application/x-www-urlencoded", the specification's spelling */
  contentType?: string | undefined;
  /** Parameters beyond the specification, signed like all others. @default none */
  extraParams?: Readonly<Record<string, string>> | undefined;
}

/** A request as the service sends it. */
export interface SignedRequest {
  method: "GET" | "POST";
  /** The whole URL, for fetch and light-my-request. */
  url: string;
  /** Path and query of it, for supertest. */
  path: string;
  headers: Record<string, string>;
  /** Undefined for a GET. */
  body: string | undefined;
}

const isText = (value: unknown) => typeof value === "string" && value !== "";

const SETTINGS_RULES: OptionRules<ReceiverSettings> = {
  authToken: {
    accepts: (value) => isText([value].flat()[0]),
    expected: "the auth token of the receiver",
    required: true,
    secret: true,
  },
  publicUrl: {
    accepts: (value) => isHttpUrl([value].flat()[0]),
    expected: 'the publicUrl of the receiver, such as "https://app.example.com/webhooks/push"',
    required: true,
  },
  signatureHeader: HEADER_NAME,
};

const RULES: OptionRules<SignedRequestOptions> = {
  version: oneOf("v1", "v2"),
  method: oneOf("GET", "POST"),
  contentType: { accepts: isText, expected: `such as ${FORM_CONTENT_TYPES.join(" or ")}` },
  extraParams: {
    accepts: (value) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((one) => typeof one === "string"),
    expected: "an object whose values are strings",
  },
};

/**
 * Creates a request as the service sends it: signed, with realistic parameters and a fresh uuid.
 *
 * @param settings the options of the receiver.
 * @param type the type of the event.
 * @param overrides parameters with other values; undefined leaves one out.
 *
 * @example
 * const { path, headers, body } = signedRequest({ authToken, publicUrl }, "challenge.approved");
 * await request(app).post(path).set(headers).send(body).expect(200);
 *
 * @throws TypeError for a type, a parameter or an option that is unknown or impossible.
 */
export function signedRequest<Type extends PushEventType, Version extends CallVersion = "v2">(
  settings: ReceiverSettings,
  type: Type,
  overrides: EventOverrides<Type, Version> = {},
  options: SignedRequestOptions<Version> = {},
): SignedRequest {
  const { authToken, publicUrl, signatureHeader } = Object(settings) as ReceiverSettings;
  checkOptions("signedRequest", { authToken, publicUrl, signatureHeader }, SETTINGS_RULES);
  checkOptions("signedRequest", options, RULES);
  const params = [
    ...listEventParams(type, overrides, options.version ?? "v2"),
    ...Object.entries(options.extraParams ?? {}),
  ];
  const call = signCall({
    authToken: [authToken].flat()[0] ?? "",
    webhookUrl: [publicUrl].flat()[0] ?? "",
    method: options.method ?? "POST",
    signatureHeader: signatureHeader ?? "X-Service-Signature",
    contentType: options.contentType ?? FORM_CONTENT_TYPES[0],
    params,
  });
  const path = call.url.replace(/^[^:]+:\/\/[^/?]*/, "").replace(/^(?!\/)/, "/");
  return { ...call, path };
}
