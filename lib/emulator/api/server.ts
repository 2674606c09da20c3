import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { EndpointResponse, type EndpointRequest } from "./endpoint-router";
import type { Caller } from "./credentials";
import { EmulatorError } from "../emulator-error";
import { createListener } from "../../kit/callbacks";
import { isForOtherPage, isLocalHost, readLimited } from "../../kit/local-server";
import { decodeParameters } from "./parameters";

const MAX_BODY_BYTES = 262_144;
const READY_PATH = "/_control/ready";

export class ApiServer {
  readonly #authenticate: (authorization: string | undefined) => Caller;
  readonly #route: (request: EndpointRequest) => Promise<EndpointResponse>;
  /** The hosts that a request may name, beside the loopback. */
  readonly #hosts: string[];
  readonly #server = createServer(
    createListener((req, res) => this.#respond(req, res), warnOfFailure),
  );
  /** Set by `listen`, and removed when that failed. */
  #listening: Promise<unknown> | undefined;
  #isClosed = false;

  constructor(
    allowedHosts: readonly string[],
    authenticate: (authorization: string | undefined) => Caller,
    route: (request: EndpointRequest) => Promise<EndpointResponse>,
  ) {
    this.#hosts = [...allowedHosts];
    this.#authenticate = authenticate;
    this.#route = route;
  }

  /** The URL of the server. @throws Error unless it listens. */
  get url(): string {
    const bound = this.#server.address() as AddressInfo | null;
    if (bound === null) {
      throw new Error(
        "The emulator has no url before it listens. Call await emulator.listen(0) first.",
      );
    }
    const { address, family, port } = bound;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  async listen(port: number, host: string): Promise<string> {
    if (this.#isClosed) {
      throw new Error("The emulator is closed. Create another one with createEmulator().");
    }
    if (this.#listening !== undefined) {
      throw new Error("The emulator already listens. Use emulator.url.");
    }
    this.#hosts.push(host);
    this.#listening = once(this.#server.listen(port, host), "listening");
    await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.url;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#listening === undefined) return;
    await this.#listening;
    this.#listening = undefined;
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      this.#assertHost(req.headers);
      if (isReadyCheck(req)) return writeResponse(res, new EndpointResponse(200, { ready: true }));
      writeResponse(res, await this.#route(await this.#readRequest(req)));
    } catch (error) {
      // The client disconnected before its request was complete.
      if (req.destroyed && !req.complete) return;
      if (!req.complete) res.setHeader("Connection", "close");
      writeResponse(res, createErrorResponse(error));
    }
  }

  #assertHost(headers: IncomingHttpHeaders): void {
    if (isLocalHost(headers, this.#hosts)) return;
    const message = `The host ${JSON.stringify(headers.host)} is not in allowedHosts`;
    throw new EmulatorError("CROSS_SITE", message);
  }

  async #readRequest(req: IncomingMessage): Promise<EndpointRequest> {
    const { method = "", url: target = "", headers } = req;
    // A browser may send remembered credentials with a form of any page.
    if (method !== "GET" && isForOtherPage(headers)) {
      throw new EmulatorError("CROSS_SITE", "Pages of another origin may not use the APIs");
    }
    // Before the body and the route: an unauthenticated client cannot probe for resources.
    const caller = this.#authenticate(headers.authorization);
    // Not destroyed: the response to a body over the limit needs the connection.
    const body = await readLimited(req.iterator({ destroyOnReturn: false }), MAX_BODY_BYTES);
    if (body === undefined) {
      throw new EmulatorError("BODY_TOO_LARGE", `The body is over ${MAX_BODY_BYTES} bytes`);
    }
    const [path = "", query = ""] = target.split(/\?(.*)/s, 2);
    const baseUrl = `http://${headers.host}`;
    return {
      method,
      path,
      query: decodeParameters(Buffer.from(query), "query"),
      body,
      contentType: headers["content-type"] ?? "",
      baseUrl,
      url: baseUrl + path,
      caller,
      params: [],
    };
  }
}

/** Returns whether a program without credentials waits until the emulator is ready. */
function isReadyCheck({ method = "", url }: IncomingMessage): boolean {
  return url === READY_PATH && ["GET", "HEAD"].includes(method);
}

function writeResponse(res: ServerResponse, { status, headers, body }: EndpointResponse): void {
  const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const content = json && { "Content-Type": "application/json", "Content-Length": json.length };
  res.writeHead(status, { ...headers, "X-Request-Id": crypto.randomUUID(), ...content }).end(json);
}

/**
 * Creates the response to a request that failed (specification, section 7). An error that is not an
 * EmulatorError is a fault of the emulator: the response is a 500 and the process emits a warning.
 */
function createErrorResponse(error: unknown): EndpointResponse {
  if (!(error instanceof EmulatorError)) {
    warnOfFailure(error);
    return createErrorResponse(new EmulatorError("INTERNAL", "Internal Server Error"));
  }
  const { serviceCode, status, message, headers } = error;
  const more_info = `https://docs.example.test/errors/${serviceCode}`;
  return new EndpointResponse(status, { code: serviceCode, message, more_info, status }, headers);
}

function warnOfFailure(error: unknown): void {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error was thrown";
  process.emitWarning(`The emulator failed to respond. ${what}`, { type: "EmulatorWarning" });
}
