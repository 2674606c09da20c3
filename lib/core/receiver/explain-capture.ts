import type { SignatureReport } from "../errors/signature-causes";
import type { Pair } from "../../kit/pairs";
import { listBodyPairs } from "../signature/explain/bodies";
import { explain, explainCause } from "../signature/explain/explain-signature";
import type { ExplainSignatureOptions } from "../signature/explain/options";
import { createGetParts, UncoveredTargetError } from "../signature/signed-parts";
import { joinReceivedUrl } from "./received-url";

/** A captured webhook request, as a `Capture` is written; undefined what is not known. */
interface ExplainedCapture {
  method: string;
  url: string | undefined;
  headers: readonly Pair[];
  body: string | undefined;
}

/** The receiver of a capture, and the signature that it got. */
interface CaptureContext extends Pick<
  ExplainSignatureOptions,
  "authToken" | "signature" | "accountSid"
> {
  publicUrl: string;
}

/**
 * Explains why the signature of a captured webhook request does not match.
 *
 * @throws TypeError when there is no token.
 */
export function explainCapture(
  { method, url: target, headers, body }: ExplainedCapture,
  { publicUrl, ...context }: CaptureContext,
): SignatureReport {
  const listHeader = (name: string) =>
    headers.flatMap(([own, value]) => (own.toLowerCase() === name ? [value] : []));
  const receivedUrl = target === undefined ? undefined : joinReceivedUrl({ target, listHeader });
  const common = { ...context, url: publicUrl, receivedUrl };
  if (method !== "GET") {
    const bytes = body === undefined ? undefined : Buffer.from(body, "base64");
    return explain({ ...common, params: listBodyPairs(bytes) ?? [], body: bytes });
  }
  try {
    const [parts] = createGetParts([publicUrl], "exact")(receivedUrl ?? "");
    const url = parts.signedUrls[0] ?? publicUrl;
    return explain({ ...common, url, method, params: [] });
  } catch (error) {
    return error instanceof UncoveredTargetError
      ? explainCause("URL_QUERY_EXTRA", error.publicUrl)
      : explainCause("URL_QUERY_ENCODING");
  }
}
