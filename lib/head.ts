import { WebhookError } from "./errors";
import { explainCause } from "./explain";
import { findFormFault } from "./explain-signatures";
import { isFormType } from "./form";
import { isSignature } from "./signature";

/** The part of a call that comes before its body. */
export interface RequestHead {
  method: string | undefined;
  /** Every value of a header, in the order of arrival; none when it is missing. */
  listHeader: (name: string) => readonly string[];
  /** The names of all headers, in lower case. */
  listHeaderNames: () => readonly string[];
  /** Whether a body may follow, if the transport tells (HTTP/2). Without it, the headers tell. */
  mayHaveBody?: boolean | undefined;
}

/** What the head of an acceptable call says. */
export interface CheckedHead {
  method: "GET" | "POST";
  signature: string;
  /** Whether a body is announced. */
  hasBody: boolean;
}

/** What a head is checked against. */
export interface HeadRules {
  /** Name of the signature header, in lower case. */
  signatureHeader: string;
  limitBytes: number;
}

/**
 * Checks everything about a call that can be checked before its body is read.
 *
 * @throws WebhookError `METHOD_NOT_ALLOWED`, `SIGNATURE_MISSING`, `SIGNATURE_MALFORMED`,
 *   `SIGNATURE_MISMATCH` for a GET with a body, `CONTENT_TYPE_UNSUPPORTED`, `BODY_TOO_LARGE`.
 */
export function checkHead(head: RequestHead, rules: HeadRules): CheckedHead {
  const { method } = head;
  if (method !== "POST" && method !== "GET") {
    throw new WebhookError("METHOD_NOT_ALLOWED", "Calls are made with POST, or with GET.");
  }
  const signature = readSignature(head, rules.signatureHeader);
  const hasBody = announcesBody(head);
  if (method === "GET") {
    if (hasBody) throw uncoveredBody();
  } else if (hasBody || head.listHeader("content-type").length > 0) {
    assertForm(head);
    assertLength(head, rules.limitBytes);
  }
  return { method, signature, hasBody };
}

function announcesBody({ listHeader, mayHaveBody }: RequestHead): boolean {
  if (mayHaveBody === true || listHeader("transfer-encoding").length > 0) return true;
  return listHeader("content-length").some((length) => Number(length) !== 0);
}

/** The refusal of a body that the signature says nothing about. */
export function uncoveredBody(): WebhookError {
  return new WebhookError(
    "SIGNATURE_MISMATCH",
    "A GET call has a body, which its signature does not cover.",
  );
}

function readSignature(head: RequestHead, name: string): string {
  const [signature, ...more] = head.listHeader(name);
  if (signature === undefined || signature === "") {
    throw new WebhookError(
      "SIGNATURE_MISSING",
      `There is no ${name} header. ${adviseOnHeader(head, name)}`,
    );
  }
  if (more.length > 0 || !isSignature(signature)) {
    throw new WebhookError(
      "SIGNATURE_MALFORMED",
      `The ${name} header must come once and hold 28 characters of base64.`,
      { explain: () => explainCause(findFormFault([signature, ...more].join(", "))) },
    );
  }
  return signature;
}

const MAX_NAMED_HEADERS = 3;

/** What to do about a missing signature header: names others that are present, never their values. */
function adviseOnHeader({ listHeaderNames }: RequestHead, missing: string): string {
  const others = listHeaderNames()
    // The client chooses the names: bounded, and without characters that could forge a log line.
    .filter((name) => name !== missing && /^[a-z0-9_-]{1,50}-signature$/.test(name))
    .slice(0, MAX_NAMED_HEADERS);
  switch (others.length) {
    case 0:
      return "If the service signs with another header, set signatureHeader to it; if a proxy removes the header, let it pass.";
    case 1:
      return `The request has ${others[0]}; set signatureHeader to it.`;
    default:
      return `The request has ${others.join(", ")}; set signatureHeader to the one that the service signs with.`;
  }
}

function assertForm({ listHeader }: RequestHead): void {
  const contentTypes = listHeader("content-type");
  if (contentTypes.length !== 1 || !isUtf8Form(contentTypes[0] ?? "")) {
    throw new WebhookError(
      "CONTENT_TYPE_UNSUPPORTED",
      "The body must be a form in UTF-8: application/x-www-form-urlencoded or application/x-www-urlencoded.",
    );
  }
  if (listHeader("content-encoding").some((encoding) => encoding.toLowerCase() !== "identity")) {
    throw new WebhookError(
      "CONTENT_TYPE_UNSUPPORTED",
      "The body must not be compressed: Content-Encoding must be absent.",
    );
  }
}

function assertLength({ listHeader }: RequestHead, limitBytes: number): void {
  if (listHeader("content-length").some((length) => Number(length) > limitBytes)) {
    throw tooLarge(limitBytes);
  }
}

/** The refusal of a body that is over the limit. */
export function tooLarge(limitBytes: number): WebhookError {
  return new WebhookError("BODY_TOO_LARGE", `The body is over limitBytes, ${limitBytes} bytes.`);
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
