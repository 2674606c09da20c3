import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { WebhookRequest } from "../../core/door";
import { decodeSafely } from "../../kit/text";
import { isHttpUrl } from "../../kit/url";
import { DURATION_MS, FUNCTION } from "../../kit/option-rules";
import { oneOf, validateOptions, type OptionRules } from "../../kit/validate-options";
import { brand } from "../../kit/brand";
import { describeError } from "../../kit/thrown-value";

/** Response of a receiver to a webhook request. */
export interface WebhookResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The first 16,384 bytes of the body, as UTF-8. */
  body: string;
}

/** How long a request may take, and what ends it earlier. @experimental */
export interface SendRequestOptions {
  /** Longest time to connect, in milliseconds. @default 5_000 */
  connectTimeoutMs?: number | undefined;
  /** Longest time from the start to the end of the response, in milliseconds. @default 15_000 */
  timeoutMs?: number | undefined;
  /** Aborts the request: the promise rejects with SendError `ABORTED`. @default none */
  signal?: AbortSignal | undefined;
  /** Closes the connection once the request is sent. @internal */
  dropConnection?: boolean | undefined;
  /** Called when the last byte of the request was handed to the operating system. @internal */
  onSent?: (() => void) | undefined;
}

/**
 * Failure of a webhook request that received no complete response. `instanceof` also recognises the
 * errors of another installed copy of this package.
 *
 * @experimental
 */
export class SendError extends Error {
  declare readonly name: "SendError";

  static {
    brand(this, "SendError");
  }

  constructor(
    /**
     * The kind of failure: `CONNECT_TIMEOUT`, `TIMEOUT`, `ABORTED` (by the signal), `DROPPED` (by the
     * fault `"drop-connection"`), or a code of Node.js such as `ECONNREFUSED`.
     */
    readonly code: string,
    message: string,
    /** Whether the connection failed before a response began: the service then sends again. */
    readonly isConnectionFailure: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

const RULES: OptionRules<SendRequestOptions> = {
  connectTimeoutMs: DURATION_MS,
  timeoutMs: DURATION_MS,
  signal: { accepts: (value) => value instanceof AbortSignal, expected: "an AbortSignal" },
  dropConnection: oneOf(true, false),
  onSent: FUNCTION,
};

const MAX_RESPONSE_BYTES = 16_384;

/**
 * Sends a webhook request once, without following redirects, such as one of `signedRequest()` from
 * the package's `/testing`.
 *
 * Path and query are sent byte for byte as they were signed; `fetch` and `new URL()` rewrite some
 * characters. The user info of the URL is sent as HTTP Basic credentials, its fragment is not sent.
 *
 * @returns the response, also one with an error status.
 * @throws SendError when there is no complete response; TypeError for an invalid URL or option.
 *
 * @example
 * const request = signedRequest({ authToken, publicUrl }, "challenge.approved");
 * const { status } = await sendRequest(request);
 *
 * @experimental
 */
export async function sendRequest(
  request: WebhookRequest,
  options: SendRequestOptions = {},
): Promise<WebhookResponse> {
  validateOptions("sendRequest", options, RULES);
  const { url, body } = request;
  if (!isHttpUrl(url)) {
    throw new TypeError("sendRequest: request.url must be an absolute http or https URL.");
  }
  const { connectTimeoutMs = 5_000, timeoutMs = 15_000, signal, dropConnection, onSent } = options;
  const ending = new AbortController();
  const end = (...reason: ConstructorParameters<typeof SendError>) =>
    ending.abort(new SendError(...reason));
  const abort = () => end("ABORTED", "The request was aborted.", false, { cause: signal?.reason });
  if (signal?.aborted === true) abort();
  ending.signal.throwIfAborted();
  const sending = openRequest(request, ending.signal);
  const unconnected = `The connection was not established within ${connectTimeoutMs} ms.`;
  const connectTimer = setTimeout(end, connectTimeoutMs, "CONNECT_TIMEOUT", unconnected, true);
  const incomplete = `There was no complete response in ${timeoutMs} ms.`;
  const timer = setTimeout(end, timeoutMs, "TIMEOUT", incomplete, false);
  let response: IncomingMessage | undefined;
  try {
    // Not AbortSignal.any: a signal that lives long would keep a reference to each of its requests.
    signal?.addEventListener("abort", abort);
    sending.on("socket", (socket) => {
      const isTls = url.toLowerCase().startsWith("https:");
      socket.once(isTls ? "secureConnect" : "connect", () => clearTimeout(connectTimer));
    });
    sending.on("finish", () => {
      onSent?.();
      const dropped = "A fault closed the connection after the request.";
      if (dropConnection === true) end("DROPPED", dropped, true);
    });
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      sending.on("response", resolve).on("error", reject);
      // A status such as 101 ends without a response event. After any other this has no effect.
      sending.on("close", () => reject(new Error("closed without a response")));
    });
    sending.end(body);
    response = await responded;
    return await readWebhookResponse(response);
  } catch (error) {
    throw ending.signal.aborted
      ? (ending.signal.reason as SendError)
      : toSendError(error, response === undefined);
  } finally {
    signal?.removeEventListener("abort", abort);
    clearTimeout(connectTimer);
    clearTimeout(timer);
  }
}

function openRequest(
  { method, url, headers, body }: WebhookRequest,
  signal: AbortSignal,
): ClientRequest {
  const { protocol, hostname, port, username, password } = new URL(url);
  const [, target = ""] = /^[^:]+:\/\/[^/?#]*([^#]*)/s.exec(url) ?? [];
  const auth = [username, password].map(decodeSafely).join(":");
  return (protocol === "https:" ? requestHttps : requestHttp)({
    agent: false,
    signal,
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
    port,
    method,
    path: toWirePath(target),
    headers: {
      ...headers,
      ...(body !== undefined && { "Content-Length": Buffer.byteLength(body) }),
    },
    ...(auth !== ":" && { auth }),
  });
}

function toWirePath(target: string): string {
  const path = target.startsWith("/") ? target : `/${target}`;
  // Encode only the characters that a request line cannot hold.
  return path.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

async function readWebhookResponse(response: IncomingMessage): Promise<WebhookResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < MAX_RESPONSE_BYTES) chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - bytes));
    bytes += chunk.length;
  }
  const body = Buffer.concat(chunks).toString("utf8");
  return { status: response.statusCode ?? 0, headers: { ...response.headers }, body };
}

function toSendError(error: unknown, isConnectionFailure: boolean): SendError {
  const { code = "ECONNRESET" } = error as NodeJS.ErrnoException;
  const text = `The connection failed: ${describeError(error as Error) || code}.`;
  return new SendError(code, text, isConnectionFailure, { cause: error });
}
