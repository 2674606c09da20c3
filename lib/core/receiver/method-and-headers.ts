import { createTooLargeError } from "./body";
import type { VerifySettings } from "./verify-options";
import type { IncomingRequest } from "./incoming-request";
import { WebhookError } from "../errors/webhook-error";
import { loadEngine } from "../signature/explain";
import { isFormType } from "../../kit/form-type";
import { isSignature } from "../signature/signature";
import { TOOL_USER_AGENT } from "../signature/signature-headers";

/** What the headers of a webhook request say; `hasBody`: whether they announce a body. */
export type CheckedHeaders = ReturnType<typeof checkHeaders>;

/**
 * Checks everything about a webhook request that can be checked before its body is read.
 *
 * @throws WebhookError `METHOD_NOT_ALLOWED`, `SIGNATURE_MISSING`, `SIGNATURE_MALFORMED`,
 *   `SIGNATURE_MISMATCH` for a GET with a body, `CONTENT_TYPE_UNSUPPORTED`, `BODY_TOO_LARGE`.
 */
export function checkHeaders(request: IncomingRequest, settings: VerifySettings) {
  const { methods, signatureHeaders, limitBytes } = settings;
  const method = methods.find((one) => one === request.method);
  if (method === undefined) {
    const message = `The option methods allows ${methods.join(" and ")} only. Add "GET" to it only for a Webhook whose webhook_method is GET.`;
    throw new WebhookError("METHOD_NOT_ALLOWED", message, { methods });
  }
  let length = 0;
  for (const value of request.listHeader("content-length")) {
    length = Math.max(length, Number(value));
  }
  const transferEncodings = request.listHeader("transfer-encoding");
  const contentTypes = request.listHeader("content-type");
  const contentEncodings = request.listHeader("content-encoding");
  const signature = readSignature(request, signatureHeaders);
  const hasBody = transferEncodings.length > 0 || length !== 0;
  if (method === "GET") {
    if (hasBody) throw createUncoveredBodyError();
  } else if (hasBody || request.mayHaveBody || contentTypes.length > 0) {
    assertForm(contentTypes, contentEncodings);
    if (length > limitBytes) throw createTooLargeError(limitBytes);
  }
  return { method, signature, hasBody };
}

export function createUncoveredBodyError(): WebhookError {
  const message = "A GET request has a body, which its signature does not cover.";
  return new WebhookError("SIGNATURE_MISMATCH", message);
}

function readSignature(request: IncomingRequest, names: readonly string[]): string {
  let values: readonly string[] = [];
  for (const name of names) {
    const found = request.listHeader(name);
    if (found.length > 0) values = values.length === 0 ? found : [...values, ...found];
  }
  const signature = values[0] ?? "";
  if (values.length === 1 && isSignature(signature)) return signature;
  const expected = names.join(" or ");
  if (values.length <= 1 && signature === "") {
    const message = `There is no signature: ${adviseOnHeader(request, expected)}`;
    throw new WebhookError("SIGNATURE_MISSING", message);
  }
  const problem =
    values.length > 1
      ? `The request has ${values.length} signature headers, and must have one, ${expected}. Find the proxy that repeats or adds one.`
      : `The header ${expected} must have the 28 characters of base64 that the service sends: it was cut off, quoted or changed, or the sender signs in another way. Pass it on as it arrives; in tests, create it with signedRequest().`;
  const explain = () => loadEngine().explainMalformed(values.join(", "));
  throw new WebhookError("SIGNATURE_MALFORMED", problem, { explain });
}

/** Names other headers, never their values. */
function adviseOnHeader(request: IncomingRequest, expected: string): string {
  const others = request
    .listHeaders()
    .map(([name]) => name.toLowerCase())
    // The client chooses the names: bound them, and omit characters that could forge a log line.
    .filter((name) => /^[a-z0-9_-]{1,50}-signature$/.test(name))
    .slice(0, 3)
    .join(", ");
  const expects = `this app expects the header ${expected}`;
  if (request.listHeader("user-agent")[0] === TOOL_USER_AGENT) {
    return `${expects}, and the sender, a tool of ${TOOL_USER_AGENT}, signs with ${others || "another one"}. Pass the name that the app expects as --signature-header, or as the option signatureHeader of the tool; the app needs no change.`;
  }
  if (others === "") {
    return `${expects}. If the service signs with another one, set signatureHeader to it; if a proxy removes the header, let it pass.`;
  }
  return `${expects}, and the request has ${others}. If the service signs with that one, set signatureHeader to it.`;
}

function assertForm(contentTypes: readonly string[], contentEncodings: readonly string[]): void {
  // A repeated header, or one that a proxy has joined: each reading must be a form.
  if (!contentTypes.join().split(",").every(isUtf8Form)) {
    throw new WebhookError(
      "CONTENT_TYPE_UNSUPPORTED",
      "The body must be a form in UTF-8: application/x-www-form-urlencoded or application/x-www-urlencoded.",
    );
  }
  if (contentEncodings.length === 0) return;
  const encodings = contentEncodings.join().split(",");
  const encoding = encodings.map((value) => value.trim()).find((value) => !NO_ENCODING.test(value));
  if (encoding === undefined) return;
  // The client chooses it: another text could forge a log line.
  const shown = /^[\w-]{1,20}$/.test(encoding) ? encoding : "unknown";
  const message = `The body must not be compressed: Content-Encoding is ${shown}. Have the proxy that compresses requests leave this path out.`;
  throw new WebhookError("CONTENT_TYPE_UNSUPPORTED", message);
}

/** The encodings that compress nothing, as senders and proxies write them. */
const NO_ENCODING = /^(?:identity|none|utf-?8)?$/i;

/** The charsets whose bytes are UTF-8; some senders leave the value empty. */
const UTF8 = /^(?:utf-?8|us-ascii)?$/i;

function isUtf8Form(contentType: string): boolean {
  if (!isFormType(contentType)) return false;
  if (!contentType.includes(";")) return true;
  // Names and quoted values as in RFC 9110, section 5.6.6; some senders write other quotes.
  const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^';]*)'|([^\s;"]*))/g;
  for (const [, name = "", quoted, oddlyQuoted, plain] of contentType.matchAll(parameter)) {
    const charset = quoted ?? oddlyQuoted ?? plain ?? "";
    if (name.toLowerCase() === "charset" && !UTF8.test(charset.trim())) return false;
  }
  return true;
}
