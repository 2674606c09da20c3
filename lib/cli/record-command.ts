import { appendFile, readFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Command } from "commander";
import * as z from "../validation/zod";
import { parseJson } from "../form/text";
import type { Capture } from "../observability/reporter";
import { pairHeaders } from "../receiver/node-request";
import { paint, print, printJson, type Terminal } from "./terminal";
import { assertUrl, readPort, UsageError } from "./arguments";

interface RecordOptions {
  port: number;
  mask?: boolean;
}

interface ReplayOptions {
  to: string;
  json?: boolean;
}

const TIMEOUT_MS = 15_000;

const captureSchema = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  body: z.string(),
});

/** Reads a file of captures. @throws UsageError for a file without any, or a line that is none. */
export async function readCaptures(file: string): Promise<Capture[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UsageError(`The file of captures ${file} cannot be read.`, { cause: error });
  });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) throw new UsageError(`${file} has no capture.`);
  return lines.map((line, index) => {
    const capture = captureSchema.safeParse(parseJson(line));
    if (capture.success) return capture.data;
    throw new UsageError(
      `${file}, line ${index + 1}: a capture is a JSON object with method, url, headers (a list of pairs) and body (base64).`,
    );
  });
}

/** Adds `record`, which stores the requests that it receives, and `replay`, which sends them. */
export function addRecordCommands(program: Command, terminal: Terminal): void {
  program
    .command("record")
    .description("receive requests, respond 200, and store them exactly, one line of JSON each")
    .argument("<file>", "file of captures; lines are added")
    .option("--port <port>", "port to listen on; 0 selects a free one", readPort, 4020)
    .option("--mask", "replace the value of entity_identity; no signature matches then")
    .action(async (file: string, { port, mask: isMasked = false }: RecordOptions) => {
      const server = createServer((req, res) => {
        void store(req).then(
          () => res.end(),
          (error: Error) => {
            terminal.stderr.write(`The request was not stored: ${error.message}\n`);
            res.writeHead(500).end();
          },
        );
      });
      async function store(req: IncomingMessage): Promise<void> {
        const { method = "", url = "", rawHeaders } = req;
        const body = (await buffer(req)).toString("base64");
        const exact = { method, url, headers: pairHeaders(rawHeaders), body };
        const capture = isMasked ? mask(exact) : exact;
        await appendFile(file, `${JSON.stringify(capture)}\n`);
        print(terminal, `${capture.method} ${capture.url.replace(/\?.*$/s, "")}`);
      }
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      const { port: listening } = server.address() as AddressInfo;
      print(terminal, `Recording into ${file} at http://127.0.0.1:${listening}`);
      if (!terminal.signal.aborted) await once(terminal.signal, "abort");
      server.close();
      server.closeAllConnections();
    });

  program
    .command("replay")
    .description("send captures again, byte for byte")
    .argument("<file>", "file of captures")
    .requiredOption("--to <url>", "address to send to; path and headers are those of the capture")
    .option("--json", "print one JSON document")
    .action(async (file: string, { to, json }: ReplayOptions) => {
      assertUrl("--to", to);
      const results: object[] = [];
      for (const capture of await readCaptures(file)) {
        const status = await sendCapture(capture, to, terminal.signal);
        if (status !== 200) terminal.hasFailed = true;
        results.push({ method: capture.method, url: capture.url, status });
        if (json === true) continue;
        const shown = paint(terminal, status === 200 ? "green" : "red", String(status));
        print(terminal, `${shown} ${capture.method} ${capture.url.replace(/\?.*$/s, "")}`);
      }
      if (json === true) printJson(terminal, results);
    });
}

function mask({ method, url, headers, body }: Capture): Capture {
  const masked = Buffer.from(
    hideIdentity(Buffer.from(body, "base64").toString("latin1")),
    "latin1",
  );
  return {
    method,
    url: hideIdentity(url),
    headers: headers.map(([name, value]) =>
      name.toLowerCase() === "content-length" ? [name, String(masked.length)] : [name, value],
    ),
    body: masked.toString("base64"),
  };
}

/** Replaces the value of entity_identity; the signature no longer matches then. */
function hideIdentity(form: string): string {
  return form.replaceAll(/((?:^|[?&])entity_identity=)[^&#]*/g, "$1masked");
}

function sendCapture({ method, url, headers, body }: Capture, to: string, signal: AbortSignal) {
  const { protocol, hostname, port } = new URL(to);
  return new Promise<number>((resolve, reject) => {
    const request = (protocol === "https:" ? requestHttps : requestHttp)(
      {
        agent: false,
        hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
        port,
        method,
        path: url,
        // As a list, they are sent as they are, repeated names included.
        headers: headers.flat(),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0)).once("error", reject);
      },
    );
    request.once("error", reject).end(Buffer.from(body, "base64"));
  });
}
