/** One signed webhook request, authenticated and read without a server. */
import { createAuthenticate } from "../../lib/receiver/authenticate";
import { createReadEvent } from "../../lib/receiver/read-event";
import { resolveVerifyOptions, type VerifyOptions } from "../../lib/receiver/verify-options";
import { createPostParts } from "../../lib/signature/signed-parts";
import { AUTH_TOKEN, eventPairs, PUBLIC_URL, signedRequestOf } from "./webhook-requests";

export const params = eventPairs("challenge.approved");
export const signature = signedRequestOf(params).headers["x-service-signature"] ?? "";
export const headers = { method: "POST", signature } as const;

/** What an explanation may use of the request. */
export const readEvidence = () => ({ url: PUBLIC_URL, body: undefined });

/** Authenticates the request and reads its event, with the options of a receiver. */
export async function verifyEvent(options: Partial<VerifyOptions>) {
  const settings = resolveVerifyOptions({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    ...options,
  });
  const authenticated = await createAuthenticate(settings)(
    headers,
    createPostParts(settings.publicUrls, settings.urlMatching)(params),
    readEvidence,
  );
  return createReadEvent(settings)(authenticated);
}
