import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { SignedCall } from "./call";
import { decodeSafely } from "./percent-encoding";

/** What a receiver answered. */
export interface CallResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Its beginning, up to 16 kB, as UTF-8. */
  body: string;
}

/** How one attempt to send a call is made. */
export interface SendOptions {
  connectTimeoutMs: number;
  /** How long the attempt may take from its start to the end of the answer. */
  timeoutMs: number;
  /** `user:password` for the receiver, from the user info of the webhook_url. */
  auth: string | undefined;
  /** Cuts the connection once the call is sent. */
  dropConnection: boolean;
  /** Ends the attempt. */
  signal: AbortSignal;
  /** Told when the last byte of the call was handed to the network. */
  onSent: () => void;
}

/** Why an attempt brought no answer. */
export class SendFailure extends Error {
  override readonly name = "SendFailure";
  /** `CONNECT_TIMEOUT`, `TIMEOUT`, `DROPPED`, `CLOSED`, or a code of Node such as `ECONNREFUSED`. */
  readonly code: string;
  /** Whether the connection failed before any answer: such a call is tried again. */
  readonly isConnectionFailure: boolean;

  constructor(code: string, message: string, isConnectionFailure: boolean) {
    super(message);
    this.code = code;
    this.isConnectionFailure = isConnectionFailure;
  }
}

const MAX_ANSWER_BYTES = 16_384;

/**
 * Sends a call once, and follows no redirect.
 *
 * The target goes over the wire byte for byte as it was signed, which `fetch` and `new URL()` would
 * not leave alone.
 *
 * @throws SendFailure when no answer came.
 */
export function sendCall(call: SignedCall, options: SendOptions): Promise<CallResponse> {
  const { connectTimeoutMs, timeoutMs, dropConnection, signal, onSent } = options;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(closed());
    const request = openRequest(call, options.auth);
    let answer: IncomingMessage | undefined;

    const fail = (failure: SendFailure) => {
      reject(failure);
      request.destroy();
    };
    const connectTimer = setTimeout(
      () =>
        fail(new SendFailure("CONNECT_TIMEOUT", `no connection in ${connectTimeoutMs} ms`, true)),
      connectTimeoutMs,
    );
    const timer = setTimeout(
      () => fail(new SendFailure("TIMEOUT", `no complete answer in ${timeoutMs} ms`, false)),
      timeoutMs,
    );
    const abort = () => fail(closed());
    signal.addEventListener("abort", abort);

    const connected = () => clearTimeout(connectTimer);
    request.on("socket", (socket) => {
      socket.once(
        call.url.toLowerCase().startsWith("https:") ? "secureConnect" : "connect",
        connected,
      );
    });
    request.on("finish", () => {
      connected();
      onSent();
      if (dropConnection)
        fail(new SendFailure("DROPPED", "the connection was cut by a fault", true));
    });
    request.on("response", (response) => {
      answer = response;
      readAnswer(response).then(resolve, (error: unknown) => fail(broken(error, false)));
    });
    request.on("error", (error) => {
      // What comes after a complete answer is no part of it.
      if (answer?.complete !== true) fail(broken(error, answer === undefined));
    });
    request.on("close", () => {
      // An answer such as 101 ends without having begun. After any other this changes nothing.
      if (answer === undefined) {
        reject(broken(new Error("the connection was closed without an answer"), true));
      }
      clearTimeout(connectTimer);
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    });
    request.end(call.body);
  });
}

/** The `user:password` in the user info of a URL. */
export function readUserInfo(url: string): string | undefined {
  const { username, password } = new URL(url);
  if (username === "" && password === "") return undefined;
  return `${decodeSafely(username)}:${decodeSafely(password)}`;
}

function openRequest(call: SignedCall, auth: string | undefined): ClientRequest {
  const { protocol, hostname, port } = new URL(call.url);
  const [, target = ""] = /^[^:]+:\/\/[^/?#]*(.*)$/s.exec(call.url) ?? [];
  return (protocol === "https:" ? requestHttps : requestHttp)({
    agent: false,
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
    port,
    method: call.method,
    path: toWirePath(target),
    headers: {
      ...call.headers,
      ...(call.body !== undefined && { "Content-Length": Buffer.byteLength(call.body) }),
    },
    ...(auth !== undefined && { auth }),
  });
}

function toWirePath(target: string): string {
  const path = target.startsWith("/") ? target : `/${target}`;
  // Only what cannot stand in a request line at all.
  return path.replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

async function readAnswer(response: IncomingMessage): Promise<CallResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes < MAX_ANSWER_BYTES) chunks.push(chunk.subarray(0, MAX_ANSWER_BYTES - bytes));
    bytes += chunk.length;
  }
  const body = Buffer.concat(chunks).toString("utf8");
  return { status: response.statusCode ?? 0, headers: { ...response.headers }, body };
}

function broken(error: unknown, isConnectionFailure: boolean): SendFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return new SendFailure(code ?? "ECONNRESET", message, isConnectionFailure);
}

function closed(): SendFailure {
  return new SendFailure("CLOSED", "the emulator was closed", false);
}
