import { STATUS_CODES } from "node:http";
import type { WebhookResponse } from "../emulator";
import { SIGNATURE_HEADERS } from "../core/door";

/** Returns whether the receiver responded, and not another part of the app. */
export function isOfReceiver({ status, headers, body }: WebhookResponse): boolean {
  // Nothing else ends the name of a status with a line break.
  return headers["cache-control"] === "no-store" && body === `${STATUS_CODES[status]}\n`;
}

/** How a tool signed a request that the receiver rejected with 403. */
interface RejectedSender {
  signatureHeader: string;
  /** The option of the tool that has the signed URL. */
  urlFlag: string;
  /**
   * Signs the same event without its uuid under this header, and sends it. A receiver that accepts
   * the signature responds 400, and runs no handler. Undefined if the signature was meant to be wrong.
   */
  probe: ((signatureHeader: string) => Promise<WebhookResponse>) | undefined;
}

/** Finds why a receiver rejected a request with 403, which its response does not say. Never rejects. */
export async function explainForbidden(sender: RejectedSender): Promise<string> {
  const { signatureHeader: used, urlFlag, probe } = sender;
  const others = SIGNATURE_HEADERS.filter((name) => name.toLowerCase() !== used.toLowerCase());
  for (const name of probe === undefined ? [] : [used, ...others]) {
    // A probe without a response proves nothing.
    const response = await probe?.(name).catch(() => undefined);
    if (response?.status !== 400 || !isOfReceiver(response)) continue;
    return name === used
      ? "The signature is right, and the receiver rejects the event: its option confirm says no, because the service does not have this challenge or factor, or allowedAccountSids or allowedServiceSids does not have the SIDs of the event. Its log says which."
      : `This app expects the header ${name}, and the sender signs with ${used}: pass --signature-header ${name}, or set PUSH_SIGNATURE_HEADER to it.`;
  }
  return `The receiver does not accept the signature: its publicUrl, authToken and signatureHeader must be equal to ${urlFlag}, PUSH_AUTH_TOKEN and --signature-header (${used}), and nothing may change the body before it. The log of the app, or its process warning, says which it is.`;
}
