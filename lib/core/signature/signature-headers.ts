/**
 * The names of the signature header: as specified (section 5), then of the public service. Tools of
 * this package sign under the first one.
 */
export const SIGNATURE_HEADERS = ["X-Service-Signature", "X-Twilio-Signature"] as const;

/** The user agent of the tools of this package: a receiver then does not advise to change the app. */
export const TOOL_USER_AGENT = "express-push-verification";
