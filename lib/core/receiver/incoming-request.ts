import { escapeControls } from "../../kit/text";
import { isRawBody } from "../event/form";
import type { Pair } from "../../kit/pairs";
import type { WebhookError } from "../errors/webhook-error";
import type { Capture, RejectedRequest } from "../observability/reporter";

/** A webhook request of `node:http`, of the Web platform or of another platform. */
export interface IncomingRequest {
  readonly method: string;
  /** The requested path with its query. */
  readonly target: string;
  /** The address of the peer; undefined where the platform does not show it. */
  readonly remoteAddress: string | undefined;
  /** Whether a body may follow that no header announces, as on HTTP/2. */
  readonly mayHaveBody: boolean;
  /** Returns every value of a header, in the order of arrival; `name` is in lower case. */
  listHeader(name: string): readonly string[];
  /** Returns all headers, in the order and the spelling of arrival. */
  listHeaders(): readonly Pair[];
  /**
   * Set by `readBody` when another middleware may have kept a part of the body: the error if it does
   * not match its signature.
   */
  readonly incompleteBody?: WebhookError | undefined;
  /**
   * Reads the body: bytes, text or a flat object, or a promise of it; "" when there is none.
   *
   * @param isAnnounced whether the headers announce a body.
   * @throws WebhookError `BODY_TOO_LARGE` as soon as the limit is exceeded, `BODY_TIMEOUT`,
   *   `BODY_MALFORMED` when the client disconnects, `BODY_CONSUMED`.
   */
  readBody(isAnnounced: boolean): unknown;
  /** What `readBody` returned; undefined until it was read. */
  body?: unknown;
}

const MAX_SHOWN_CHARACTERS = 200;

/** Returns a request as it arrived; undefined when its body is not known as bytes or text. */
export function captureRequest(request: IncomingRequest): Capture | undefined {
  const { method, target: url, body } = request;
  if (!isRawBody(body)) return undefined;
  const base64 = Buffer.from(body as Uint8Array).toString("base64");
  return { method, url, headers: [...request.listHeaders()], body: base64 };
}

/** Describes a rejected request for logs. */
export function describeRequest(request: IncomingRequest): RejectedRequest {
  const { method, target, remoteAddress } = request;
  return { method, path: shortenPath(target), remoteAddress };
}

/** Returns the path of a target for messages: without query, escaped, at most 200 characters. */
export function shortenPath(target: string): string {
  // Cut first: a target may have 16 kB, and an escaped character has 6 characters.
  const [path = ""] = target.slice(0, MAX_SHOWN_CHARACTERS + 1).split("?", 1);
  const escaped = escapeControls(path);
  return escaped.length > MAX_SHOWN_CHARACTERS
    ? `${escaped.slice(0, MAX_SHOWN_CHARACTERS)}…`
    : escaped;
}
