import type { VerifySignatureOptions } from "../signature";

/** A request whose signature does not match; the more is known of it, the more causes can be proven. */
export interface ExplainSignatureOptions extends Omit<VerifySignatureOptions, "signature"> {
  /** The value of the signature header as received; undefined or empty if it is missing. */
  signature: string | undefined;
  /** Other tokens that may have signed: a list, or a record by account or by any other name. */
  candidateTokens?: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** The URL according to the request line and the headers, if it differs from `url`. */
  receivedUrl?: string | undefined;
  /**
   * The body as received, before a parser changed it; or the flat object that a parser created, if
   * the bytes are lost. @default `params`, if that is an object
   */
  body?: string | Uint8Array | Readonly<Record<string, string | readonly string[]>> | undefined;
  /** @default "POST" */
  method?: "GET" | "POST" | undefined;
  /** The account that `authToken` belongs to. */
  accountSid?: string | undefined;
}
