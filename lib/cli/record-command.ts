import { appendFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, request as requestHttp } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { urlToHttpOptions } from "node:url";
import type { Command } from "commander";
import * as z from "zod";
import { createListener } from "../kit/callbacks";
import { isForOtherPage, isLocalHost, readLimited } from "../kit/local-server";
import { parseJson } from "../kit/text";
import { pairHeaders } from "../kit/pairs";
import { print, printJson, printNote, printPainted, type Terminal } from "./terminal";
import { readTextFile } from "./text-file";
import { addServerOptions, assertUrl, type ServerOptions, UsageError } from "./arguments";

interface RecordOptions extends ServerOptions {
  mask?: boolean;
}

interface ReplayOptions {
  to: string;
  json?: boolean;
}

const TIMEOUT_MS = 15_000;
/** The service sends far less; a file of captures is read as a whole. */
const MAX_BODY_BYTES = 1_048_576;

const captureSchema = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()]).readonly()),
  body: z.string(),
});

/** One request as it arrived, as `Capture` of the main entry. */
export type Capture = z.infer<typeof captureSchema>;

/** Reads a file of captures. @throws UsageError for a file without any, or a line that is none. */
export async function readCaptures(terminal: Terminal, file: string): Promise<Capture[]> {
  const text = await readTextFile(terminal, "The file of captures", file);
  const lines = [...text.toString().split("\n").entries()].filter(([, line]) => line.trim() !== "");
  if (lines.length === 0) throw new UsageError(`${file} has no capture.`);
  return lines.map(([index, line]) => {
    const capture = captureSchema.safeParse(parseJson(line));
    if (capture.success) return capture.data;
    throw new UsageError(
      `${file}, line ${index + 1}: a capture is a JSON object with method, url, headers (a list of pairs) and body (base64).`,
    );
  });
}

/** Adds `record`, which stores the requests that it receives, and `replay`, which sends them. */
export function addRecordCommands(program: Command, terminal: Terminal): void {
  addServerOptions(program.command("record"), 4020)
    .description("receive requests, respond 200, and store them exactly, one line of JSON each")
    .argument("<file>", "file of captures; lines are added")
    .option("--mask", "replace the value of entity_identity; no signature matches then")
    .action(async (file: string, options: RecordOptions) => {
      const { port, host, allowedHost = [], mask: isMasked = false } = options;
      const reject = (status: number, reason: string) => {
        printNote(terminal, `The request was not stored: ${reason}`);
        return status;
      };
      const respond = async (req: IncomingMessage, res: ServerResponse) => {
        const status = await store(req).catch(({ message }: Error) => reject(500, message));
        res.writeHead(status, req.complete ? {} : { Connection: "close" }).end();
      };
      const server = createServer(
        createListener(respond, (error) => {
          printNote(terminal, `The response failed: ${(error as Error).message}`);
        }),
      );
      async function store(req: IncomingMessage): Promise<number> {
        const { method = "", url = "", headers, rawHeaders } = req;
        if (!isLocalHost(headers, [host, ...allowedHost])) {
          const shown = JSON.stringify(headers.host);
          return reject(403, `its host is ${shown}; pass that name as --allowed-host.`);
        }
        if (isForOtherPage(headers)) {
          return reject(403, "a browser sent it for a page of another origin.");
        }
        // Not destroyed: the response to a body over the limit needs the connection.
        const bytes = await readLimited(req.iterator({ destroyOnReturn: false }), MAX_BODY_BYTES);
        if (bytes === undefined) return reject(413, `it has more than ${MAX_BODY_BYTES} bytes.`);
        const body = bytes.toString("base64");
        const exact = { method, url, headers: pairHeaders(rawHeaders), body };
        const capture = isMasked ? mask(exact) : exact;
        // It identifies a user, and anyone who has it can send it again.
        await appendFile(file, `${JSON.stringify(capture)}\n`, { mode: 0o600 });
        print(terminal, `${capture.method} ${capture.url.replace(/\?.*$/s, "")}`);
        return 200;
      }
      server.listen(port, host);
      await once(server, "listening");
      const { port: listening } = server.address() as AddressInfo;
      const shownHost = host.includes(":") ? `[${host}]` : host;
      print(terminal, `Recording into ${file} at http://${shownHost}:${listening}`);
      if (!terminal.signal.aborted) await once(terminal.signal, "abort");
      server.close();
      server.closeAllConnections();
    });

  program
    .command("replay")
    .description("send captures again, byte for byte")
    .argument("<file>", "file of captures")
    .requiredOption("--to <url>", "address to send to; the capture has the path and the headers")
    .option("--json", "print one JSON document")
    .action(async (file: string, { to, json }: ReplayOptions) => {
      assertUrl("--to", to);
      const results: object[] = [];
      for (const capture of await readCaptures(terminal, file)) {
        const status = await sendCapture(capture, to, terminal.signal);
        if (status !== 200) terminal.hasFailed = true;
        results.push({ method: capture.method, url: capture.url, status });
        if (json === true) continue;
        const rest = ` ${capture.method} ${capture.url.replace(/\?.*$/s, "")}`;
        printPainted(terminal, status === 200 ? "green" : "red", String(status), rest);
      }
      if (json === true) printJson(terminal, results);
    });
}

function mask({ method, url, headers, body }: Capture): Capture {
  const form = Buffer.from(body, "base64").toString("latin1");
  const masked = Buffer.from(hideIdentity(form), "latin1");
  return {
    method,
    url: hideIdentity(url),
    headers: headers.map(([name, value]) =>
      name.toLowerCase() === "content-length" ? [name, String(masked.length)] : [name, value],
    ),
    body: masked.toString("base64"),
  };
}

function hideIdentity(form: string): string {
  return form.replaceAll(/((?:^|[?&])entity_identity=)[^&]*/g, "$1masked");
}

function sendCapture({ method, url, headers, body }: Capture, to: string, signal: AbortSignal) {
  const target = urlToHttpOptions(new URL(to));
  return new Promise<number>((resolve, reject) => {
    const request = (target.protocol === "https:" ? requestHttps : requestHttp)(
      {
        ...target,
        agent: false,
        method,
        path: url,
        // As a list, they are sent as they are, repeated names included.
        headers: headers.flat(),
        signal,
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0)).once("error", reject);
      },
    );
    const stop = () => request.destroy(new Error(`There was no response in ${TIMEOUT_MS} ms.`));
    request.setTimeout(TIMEOUT_MS, stop);
    request.once("error", reject).end(Buffer.from(body, "base64"));
  });
}
