import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodePairs, type Pair } from "../../form/form";
import type { EndpointResponse, EndpointRequest } from "./endpoint-router";
import type { Identity } from "./credentials";
import { EmulatorError } from "../emulator-error";
import { toErrorResponse } from "./error-response";
import { createUuid } from "../resources/sids";

/** Functions of the service that the server calls. */
export interface Service {
  authenticate(authorization: string | undefined): Identity;
  route(request: EndpointRequest): EndpointResponse | Promise<EndpointResponse>;
}

/** HTTP server of the emulated service. */
export interface ApiServer {
  /** @throws Error unless the server listens. */
  readonly url: string;
  listen(port: number, host: string): Promise<void>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 262_144;

/** Creates the HTTP server of a service. */
export function createApiServer(service: Service): ApiServer {
  let server: Server | undefined;
  let listening: Promise<void> | undefined;
  let url: string | undefined;
  let isClosed = false;

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      sendResponse(res, await service.route(await readRequest(req)));
    } catch (error) {
      // The client disconnected before its request was complete.
      if (req.destroyed && !req.complete) return;
      if (!req.complete) res.setHeader("Connection", "close");
      sendResponse(res, toErrorResponse(error));
    }
  }

  async function readRequest(req: IncomingMessage): Promise<EndpointRequest> {
    const { method = "", url: target = "", headers } = req;
    // Before the body and the route: an unauthenticated client cannot probe for resources.
    const identity = service.authenticate(headers.authorization);
    const body = await readRequestBody(req);
    const queryStart = target.indexOf("?");
    return {
      method,
      path: queryStart === -1 ? target : target.slice(0, queryStart),
      query: queryStart === -1 ? [] : readQuery(target.slice(queryStart + 1)),
      body,
      contentType: headers["content-type"] ?? "",
      baseUrl: /^[\w.:[\]-]+$/.test(headers.host ?? "") ? `http://${headers.host}` : readUrl(),
      identity,
    };
  }

  function readUrl(): string {
    if (url === undefined) {
      throw new Error(
        "The emulator has no url before it listens. Call await emulator.listen(0) first.",
      );
    }
    return url;
  }

  return {
    get url() {
      return readUrl();
    },
    async listen(port, host) {
      if (isClosed)
        throw new Error("The emulator is closed. Create another one with createEmulator().");
      if (server !== undefined) throw new Error("The emulator already listens. Use emulator.url.");
      const opened = createServer((req, res) => void respond(req, res));
      server = opened;
      listening = new Promise<void>((resolve, reject) => {
        opened.once("error", reject);
        opened.listen(port, host, resolve);
      });
      try {
        await listening;
      } catch (error) {
        server = undefined;
        throw error;
      }
      const { address, family, port: bound } = opened.address() as AddressInfo;
      url = `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
    },
    async close() {
      isClosed = true;
      const closing = server;
      if (closing === undefined) return;
      await listening;
      server = undefined;
      url = undefined;
      closing.closeAllConnections();
      await new Promise((resolve) => closing.close(resolve));
    },
  };
}

function sendResponse(res: ServerResponse, { status, headers, body }: EndpointResponse): void {
  for (const [name, value] of Object.entries(headers ?? {})) res.setHeader(name, value);
  res.setHeader("X-Request-Id", createUuid());
  if (body === undefined) {
    res.writeHead(status).end();
    return;
  }
  const json = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": json.length });
  res.end(json);
}

function readRequestBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) {
        chunks.push(chunk);
        return;
      }
      req.pause();
      reject(new EmulatorError("BODY_TOO_LARGE", `The body is over ${MAX_BODY_BYTES} bytes`));
    });
    req.on("end", () => resolve(Buffer.concat(chunks)));
    req.on("error", reject);
  });
}

function readQuery(query: string): Pair[] {
  try {
    return decodePairs(query);
  } catch {
    // The decoder's own message is about webhook requests.
    throw new EmulatorError("BAD_REQUEST", "Bad request: the query is malformed");
  }
}
