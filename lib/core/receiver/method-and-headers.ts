import { tooLarge } from "./body";
import type { VerifySettings } from "./verify-options";
import type { IncomingRequest } from "./incoming-request";
import { WebhookError } from "../errors/webhook-error";
import { loadEngine } from "../signature/explain";
import { isFormType } from "../event/form";
import { isSignature } from "../signature/signature";

/** What the headers of a webhook request say; `hasBody`: whether they announce a body. */
export type CheckedHeaders = ReturnType<typeof checkHeaders>;

/**
 * Checks everything about a webhook request that can be checked before its body is read.
 *
 * @throws WebhookError `METHOD_NOT_ALLOWED`, `SIGNATURE_MISSING`, `SIGNATURE_MALFORMED`,
 *   `SIGNATURE_MISMATCH` for a GET with a body, `CONTENT_TYPE_UNSUPPORTED`, `BODY_TOO_LARGE`.
 */
export function checkHeaders(request: IncomingRequest, settings: VerifySettings) {
  const { methods, signatureHeader, limitBytes } = settings;
  const method = methods.find((one) => one === request.method);
  if (method === undefined) {
    const message = `The option methods allows ${methods.join(" and ")} only. Add "GET" to it only for a Webhook whose webhook_method is GET.`;
    throw new WebhookError("METHOD_NOT_ALLOWED", message, { methods });
  }
  const signatures = request.listHeader(signatureHeader);
  const length = Math.max(0, ...request.listHeader("content-length").map(Number));
  const transferEncodings = request.listHeader("transfer-encoding");
  const contentTypes = request.listHeader("content-type");
  const contentEncodings = request.listHeader("content-encoding");
  const signature = readSignature(signatures, signatureHeader, request);
  const hasBody = transferEncodings.length > 0 || length !== 0;
  if (method === "GET") {
    if (hasBody) throw uncoveredBody();
  } else if (hasBody || request.mayHaveBody || contentTypes.length > 0) {
    assertForm(contentTypes, contentEncodings);
    if (length > limitBytes) throw tooLarge(limitBytes);
  }
  return { method, signature, hasBody };
}

/** Returns the error of a body that the signature does not cover. */
export function uncoveredBody(): WebhookError {
  const message = "A GET request has a body, which its signature does not cover.";
  return new WebhookError("SIGNATURE_MISMATCH", message);
}

function readSignature(values: readonly string[], name: string, request: IncomingRequest): string {
  const [signature] = values;
  if (signature === undefined || signature === "") {
    const message = `There is no ${name} header. ${adviseOnHeader(request, name)}`;
    throw new WebhookError("SIGNATURE_MISSING", message);
  }
  if (values.length > 1 || !isSignature(signature)) {
    throw new WebhookError(
      "SIGNATURE_MALFORMED",
      `The ${name} header must come once and hold 28 characters of base64.`,
      { explain: () => loadEngine().explainMalformed(values.join(", ")) },
    );
  }
  return signature;
}

/** Advises on a missing signature header; names other headers, never their values. */
function adviseOnHeader(request: IncomingRequest, missing: string): string {
  const others = request
    .listHeaders()
    .map(([name]) => name.toLowerCase())
    // The client chooses the names: bound them, and omit characters that could forge a log line.
    .filter((name) => name !== missing && /^[a-z0-9_-]{1,50}-signature$/.test(name))
    .slice(0, 3);
  if (others.length === 0) {
    return "If the service signs with another header, set signatureHeader to it; if a proxy removes the header, let it pass.";
  }
  const which = others.length === 1 ? "it" : "the one that the service signs with";
  return `The request has ${others.join(", ")}; set signatureHeader to ${which}.`;
}

function assertForm(contentTypes: readonly string[], contentEncodings: readonly string[]): void {
  if (contentTypes.length !== 1 || !isUtf8Form(contentTypes[0] ?? "")) {
    throw new WebhookError(
      "CONTENT_TYPE_UNSUPPORTED",
      "The body must be a form in UTF-8: application/x-www-form-urlencoded or application/x-www-urlencoded.",
    );
  }
  if (contentEncodings.some((encoding) => encoding.toLowerCase() !== "identity")) {
    const message = "The body must not be compressed: Content-Encoding must be absent.";
    throw new WebhookError("CONTENT_TYPE_UNSUPPORTED", message);
  }
}

function isUtf8Form(contentType: string): boolean {
  if (!isFormType(contentType)) return false;
  if (!contentType.includes(";")) return true;
  // Names and quoted values as in RFC 9110, section 5.6.6.
  const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g;
  for (const [, name = "", quoted, plain = ""] of contentType.matchAll(parameter)) {
    if (name.toLowerCase() === "charset" && !/^utf-?8$/i.test(quoted ?? plain)) return false;
  }
  return true;
}
