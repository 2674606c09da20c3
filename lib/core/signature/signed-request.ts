import type { Pair } from "../../kit/pairs";
import { encodeForm } from "../../kit/text";
import { sign } from "./signature";
import { TOOL_USER_AGENT } from "./signature-headers";
import { stripUnsigned } from "./signed-urls";

/** The parameters of an event, and the Webhook that sends them. */
export interface SignRequestOptions {
  /** The account's auth token. */
  authToken: string;
  /** The URL as configured at the service. */
  webhookUrl: string;
  method: "GET" | "POST";
  /** Name of the signature header. */
  signatureHeader: string;
  contentType: string;
  params: readonly Pair[];
}

/** A webhook request as it goes over the wire. */
export interface WebhookRequest {
  method: "GET" | "POST";
  /** With the parameters for a GET; without user info and fragment. */
  url: string;
  headers: Record<string, string>;
  /** Undefined for a GET. */
  body: string | undefined;
}

/**
 * Signs a webhook request and writes it as the service does: parameters in a form, or for a GET
 * appended to the query of the URL, which is then signed as a whole (specification, section 5).
 *
 * @throws TypeError as {@link sign}.
 */
export function signRequest(options: SignRequestOptions): WebhookRequest {
  const { authToken, webhookUrl, method, signatureHeader, contentType, params } = options;
  const configured = stripUnsigned(webhookUrl);
  const form = encodeForm(params);
  const agent = { "User-Agent": TOOL_USER_AGENT };
  if (method === "GET") {
    const url = form === "" ? configured : configured + separatorFor(configured) + form;
    const signature = sign({ authToken, url, params: [] });
    return { method, url, headers: { ...agent, [signatureHeader]: signature }, body: undefined };
  }
  const signature = sign({ authToken, url: configured, params });
  const headers = { ...agent, "Content-Type": contentType, [signatureHeader]: signature };
  return { method, url: configured, headers, body: form };
}

function separatorFor(url: string): string {
  if (!url.includes("?")) return "?";
  return url.endsWith("?") ? "" : "&";
}
