import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EndpointResponse, EndpointRequest } from "./endpoint-router";
import type { Identity } from "./credentials";
import { EmulatorError } from "../emulator-error";
import { toErrorResponse } from "./error-response";
import { decodeParameters } from "./request-form";

const MAX_BODY_BYTES = 262_144;

/**
 * Creates the HTTP server of the emulated service. Its `url` throws an Error unless it listens.
 *
 * @param authenticate returns who sent a request, from its `Authorization` header.
 * @param route responds to an authenticated request.
 */
export function createApiServer(
  authenticate: (authorization: string | undefined) => Identity,
  route: (request: EndpointRequest) => EndpointResponse | Promise<EndpointResponse>,
) {
  let server: Server | undefined;
  let listening: Promise<unknown> | undefined;
  let url: string | undefined;
  let isClosed = false;

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      sendResponse(res, await route(await readRequest(req)));
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
    const identity = authenticate(headers.authorization);
    const body = await readRequestBody(req);
    const [path = "", query = ""] = target.split(/\?(.*)/s, 2);
    return {
      method,
      path,
      query: decodeParameters(Buffer.from(query), "query"),
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
    async listen(port: number, host: string): Promise<void> {
      if (isClosed)
        throw new Error("The emulator is closed. Create another one with createEmulator().");
      if (server !== undefined) throw new Error("The emulator already listens. Use emulator.url.");
      const opened = createServer((req, res) => void respond(req, res));
      server = opened;
      try {
        listening = once(opened.listen(port, host), "listening");
        await listening;
      } catch (error) {
        server = undefined;
        throw error;
      }
      const { address, family, port: bound } = opened.address() as AddressInfo;
      url = `http://${family === "IPv6" ? `[${address}]` : address}:${bound}`;
    },
    async close(): Promise<void> {
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
  res.setHeader("X-Request-Id", crypto.randomUUID());
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
