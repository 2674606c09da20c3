import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EndpointResponse, type EndpointRequest } from "./endpoint-router";
import type { Caller } from "./credentials";
import { EmulatorError } from "../emulator-error";
import { isForOtherPage, isLocalHost, readLimited } from "../../kit/local-server";
import { decodeParameters } from "./parameters";

const MAX_BODY_BYTES = 262_144;

/** Creates the HTTP server of the emulated service; its `readUrl` throws unless it listens. */
export function createApiServer(
  allowedHosts: readonly string[],
  authenticate: (authorization: string | undefined) => Caller,
  route: (request: EndpointRequest) => Promise<EndpointResponse>,
) {
  const server = createServer((req, res) => void respond(req, res));
  const hosts = [...allowedHosts];
  let listening: Promise<unknown> | undefined;
  let isClosed = false;

  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      writeResponse(res, await route(await readRequest(req)));
    } catch (error) {
      // The client disconnected before its request was complete.
      if (req.destroyed && !req.complete) return;
      if (!req.complete) res.setHeader("Connection", "close");
      writeResponse(res, createErrorResponse(error));
    }
  }

  async function readRequest(req: IncomingMessage): Promise<EndpointRequest> {
    const { method = "", url: target = "", headers } = req;
    if (!isLocalHost(headers, hosts)) {
      const message = `The host ${JSON.stringify(headers.host)} is not in allowedHosts`;
      throw new EmulatorError("CROSS_SITE", message);
    }
    // A browser may send remembered credentials with a form of any page.
    if (method !== "GET" && isForOtherPage(headers)) {
      throw new EmulatorError("CROSS_SITE", "Pages of another origin may not use the APIs");
    }
    // Before the body and the route: an unauthenticated client cannot probe for resources.
    const caller = authenticate(headers.authorization);
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

  function readUrl(): string {
    const bound = server.address() as AddressInfo | null;
    if (bound === null) {
      throw new Error(
        "The emulator has no url before it listens. Call await emulator.listen(0) first.",
      );
    }
    const { address, family, port } = bound;
    return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  return {
    readUrl,
    async listen(port: number, host: string): Promise<string> {
      if (isClosed)
        throw new Error("The emulator is closed. Create another one with createEmulator().");
      if (listening !== undefined) {
        throw new Error("The emulator already listens. Use emulator.url.");
      }
      hosts.push(host);
      listening = once(server.listen(port, host), "listening");
      await listening.catch((error: unknown) => {
        listening = undefined;
        throw error;
      });
      return readUrl();
    },
    async close(): Promise<void> {
      isClosed = true;
      if (listening === undefined) return;
      await listening;
      listening = undefined;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
    const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error was thrown";
    process.emitWarning(`The emulator responded 500. ${what}`, { type: "EmulatorWarning" });
    return createErrorResponse(new EmulatorError("INTERNAL", "Internal Server Error"));
  }
  const { serviceCode, status, message, headers } = error;
  const more_info = `https://docs.example.test/errors/${serviceCode}`;
  return new EndpointResponse(status, { code: serviceCode, message, more_info, status }, headers);
}
