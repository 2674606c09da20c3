import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodePairs, type Pair } from "../form";
import type { ApiAnswer, ApiRequest } from "./api";
import type { Identity } from "./credentials";
import { EmulatorError, toErrorBody } from "./errors";
import { createUuid } from "./sids";

/** What the server asks of the service. */
export interface Service {
  authenticate(authorization: string | undefined): Identity;
  route(request: ApiRequest): ApiAnswer | Promise<ApiAnswer>;
}

/** The service's door on a port of this machine. */
export interface ApiServer {
  /** @throws Error unless it listens. */
  readonly url: string;
  listen(port: number, host: string): Promise<void>;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 262_144;

/** Makes the HTTP server of a service. */
export function createApiServer(service: Service): ApiServer {
  let server: Server | undefined;
  let listening: Promise<void> | undefined;
  let url: string | undefined;
  let isClosed = false;

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      sendAnswer(res, await service.route(await readRequest(req)));
    } catch (error) {
      // The client went away before its request was complete.
      if (req.destroyed && !req.complete) return;
      const refusal = error instanceof EmulatorError ? error : explainFailure(error);
      for (const [name, value] of Object.entries(refusal.headers)) res.setHeader(name, value);
      if (!req.complete) res.setHeader("Connection", "close");
      sendAnswer(res, { status: refusal.status, body: toErrorBody(refusal) });
    }
  }

  async function readRequest(req: IncomingMessage): Promise<ApiRequest> {
    const { method = "", url: target = "", headers } = req;
    // First: an unauthenticated client learns nothing of the resources, and sends no body.
    const identity = service.authenticate(headers.authorization);
    const body = await readBody(req);
    const question = target.indexOf("?");
    return {
      method,
      path: question === -1 ? target : target.slice(0, question),
      query: question === -1 ? [] : readQuery(target.slice(question + 1)),
      body,
      contentType: headers["content-type"] ?? "",
      baseUrl: /^[\w.:[\]-]+$/.test(headers.host ?? "") ? `http://${headers.host}` : readUrl(),
      identity,
    };
  }

  function readUrl(): string {
    if (url === undefined) {
      throw new Error("The emulator has no url: await emulator.listen(0) first.");
    }
    return url;
  }

  return {
    get url() {
      return readUrl();
    },
    async listen(port, host) {
      if (isClosed) throw new Error("The emulator was closed: make another one.");
      if (server !== undefined) throw new Error("The emulator listens already.");
      const opened = createServer((req, res) => void answer(req, res));
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

/** A failure of the emulator itself, which its user must hear of. */
function explainFailure(error: unknown): EmulatorError {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error was thrown";
  process.emitWarning(`The emulator answered 500. ${what}`, { type: "EmulatorWarning" });
  return new EmulatorError("INTERNAL", "Internal Server Error");
}

function sendAnswer(res: ServerResponse, { status, body }: ApiAnswer): void {
  res.setHeader("X-Request-Id", createUuid());
  if (body === undefined) {
    res.writeHead(status).end();
    return;
  }
  const json = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { "Content-Type": "application/json", "Content-Length": json.length });
  res.end(json);
}

function readBody(req: IncomingMessage): Promise<Buffer> {
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
    // The message of a receiver's error is about calls.
    throw new EmulatorError("BAD_REQUEST", "Bad request: the query is malformed");
  }
}
