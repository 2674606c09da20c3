import { signCall } from "../call";
import type { CallVersion } from "../call-parameters";
import type { PushEventType } from "../event";
import { FORM_CONTENT_TYPES } from "../form";
import { checkOptions, HEADER_NAME, oneOf, type OptionRules } from "../option-rules";
import { isHttpUrl } from "../url";
import { listEventParams, type EventOverrides } from "./event-params";

/** How a request is signed. */
export interface SignedRequestOptions<Version extends CallVersion = CallVersion> {
  /** The auth token that the receiver has. */
  authToken: string;
  /** The publicUrl that the receiver has. */
  publicUrl: string;
  /** @default "v2" */
  version?: Version;
  /** @default "POST" */
  method?: "GET" | "POST";
  /** @default "X-Service-Signature" */
  signatureHeader?: string;
  /** @default "application/x-www-urlencoded", the specification's spelling */
  contentType?: string;
  /** Parameters that do not exist yet, signed like all others. @default none */
  extraParams?: Readonly<Record<string, string>>;
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

const RULES: OptionRules<SignedRequestOptions> = {
  authToken: {
    accepts: isText,
    expected: "the auth token that the receiver has",
    required: true,
    secret: true,
  },
  publicUrl: {
    accepts: isHttpUrl,
    expected:
      'the publicUrl that the receiver has, such as "https://app.example.com/webhooks/push"',
    required: true,
  },
  version: oneOf("v1", "v2"),
  method: oneOf("GET", "POST"),
  signatureHeader: HEADER_NAME,
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
 * Makes a request as the service sends it, signed, with realistic parameters and a fresh uuid.
 *
 * @param type the type of the event.
 * @param overrides parameters that shall be other than realistic; undefined leaves one out.
 *
 * @example
 * const { path, headers, body } = signedRequest("challenge.approved", {}, { authToken, publicUrl });
 * await request(app).post(path).set(headers).send(body).expect(200);
 *
 * @throws TypeError for a type, a parameter or an option that does not exist or is impossible.
 */
export function signedRequest<Type extends PushEventType, Version extends CallVersion = "v2">(
  type: Type,
  overrides: EventOverrides<Type, Version>,
  options: SignedRequestOptions<Version>,
): SignedRequest {
  checkOptions("signedRequest", options, RULES);
  const params = [
    ...listEventParams(type, overrides, options.version ?? "v2"),
    ...Object.entries(options.extraParams ?? {}),
  ];
  const call = signCall({
    authToken: options.authToken,
    webhookUrl: options.publicUrl,
    method: options.method ?? "POST",
    signatureHeader: options.signatureHeader ?? "X-Service-Signature",
    contentType: options.contentType ?? FORM_CONTENT_TYPES[0],
    params,
  });
  const path = call.url.replace(/^[^:]+:\/\/[^/?]*/, "").replace(/^(?!\/)/, "/");
  return { ...call, path };
}
