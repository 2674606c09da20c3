import { Option, type Command } from "commander";
import { explainCapture, SIGNATURE_HEADERS } from "../core/door";
import { readCaptures, type Capture } from "./record-command";
import { printJson, printNote, printPainted, type Terminal } from "./terminal";
import { readSecret, readVariable } from "./environment";
import { readTextFile } from "./text-file";
import { choice, parseHeader, UsageError } from "./arguments";

type SignatureReport = ReturnType<typeof explainCapture>;

interface ExplainOptions {
  url: string;
  capture?: string;
  header?: string[];
  signatureHeader?: string;
  bodyFile?: string;
  receivedUrl?: string;
  method: "POST" | "GET";
  accountSid?: string;
  json?: boolean;
}

/** Adds `explain`, which explains why the signature of a captured webhook request does not match. */
export function addExplainCommand(program: Command, terminal: Terminal): void {
  program
    .command("explain")
    .description("explain why the signature of a captured webhook request does not match")
    .requiredOption("--url <url>", "publicUrl of the receiver")
    .addOption(
      new Option(
        "--capture <file>",
        "file of captures, as record writes it, instead of the request's options",
      ).conflicts(["header", "bodyFile", "receivedUrl", "method"]),
    )
    .option(
      "-H, --header <line>",
      'header of the request, as for curl: "Name: value", or the signature alone; repeatable',
      (line: string, lines: string[] | undefined) => [...(lines ?? []), line],
    )
    .option(
      "--signature-header <name>",
      "name of the signature header among the headers, or $PUSH_SIGNATURE_HEADER",
      readVariable(terminal, "PUSH_SIGNATURE_HEADER") || undefined,
    )
    .option("--body-file <file>", "file with the body of a POST, as received")
    .option("--received-url <url>", "URL of the request as received; required for a GET")
    .addOption(choice("--method <method>", "HTTP method", ["POST", "GET"], "POST"))
    .option("--account-sid <sid>", "SID of the account of PUSH_AUTH_TOKEN")
    .option("--json", "print one JSON document")
    .action(async (options: ExplainOptions) => {
      const requests = await listRequests(terminal, options);
      const { url: publicUrl, signatureHeader, accountSid } = options;
      const authToken = await readSecret(terminal, "PUSH_AUTH_TOKEN");
      const reports = requests.map(({ capture, lines }) => {
        const signature = findSignature(lines, signatureHeader);
        return explainCapture(capture, { authToken, publicUrl, accountSid, signature });
      });
      if (reports.some(({ matches }) => !matches)) terminal.hasFailed = true;
      const [report, ...others] = reports;
      if (options.json === true) printJson(terminal, others.length === 0 ? report : reports);
      else for (const one of reports) printReport(terminal, one);
    });
}

/** A request, and the lines that may hold its signature. */
interface ExplainedRequest {
  capture: Parameters<typeof explainCapture>[0];
  lines: string[];
}

async function listRequests(
  terminal: Terminal,
  { capture, header = [], bodyFile, receivedUrl, method }: ExplainOptions,
): Promise<ExplainedRequest[]> {
  if (capture !== undefined) return (await readCaptures(terminal, capture)).map(fromCapture);
  if (header.length === 0) throw new UsageError("Pass --capture, or the headers with --header.");
  if (method === "GET" && receivedUrl === undefined) {
    throw new UsageError(
      "A GET carries its parameters in its URL. Pass that URL as --received-url.",
    );
  }
  if (method === "POST" && bodyFile === undefined) {
    printNote(terminal, "Without --body-file, only the URL and the signature are checked.");
  }
  const bytes = bodyFile === undefined ? undefined : await readBodyFile(terminal, bodyFile);
  const body = bytes?.toString("base64");
  // Without headers: a command line need not have the headers that show the URL.
  return [{ capture: { method, headers: [], url: receivedUrl, body }, lines: header }];
}

function fromCapture(capture: Capture): ExplainedRequest {
  return { capture, lines: capture.headers.map((header) => header.join(": ")) };
}

/**
 * Returns the value of the signature header among lines such as `Name: value`; undefined when there is
 * none. A line without a name is a value of it. A repeated header has its values joined, as Node.js does.
 */
function findSignature(lines: readonly string[], name?: string): string | undefined {
  const headers = lines.map(parseLine);
  if (name === undefined && headers.length === 1) return headers[0]?.value;
  const names = new Set(headers.map((header) => header.name));
  const chosen = name?.toLowerCase() ?? chooseName([...names]);
  const values = headers.filter((header) => header.name === chosen || header.name === "");
  return values.length === 0 ? undefined : values.map(({ value }) => value).join(", ");
}

function chooseName(names: string[]): string | undefined {
  if (names.includes("")) return "";
  const known = SIGNATURE_HEADERS.map((name) => name.toLowerCase()).filter((name) =>
    names.includes(name),
  );
  const candidates = known.length > 0 ? known : names.filter((name) => name.endsWith("-signature"));
  if (candidates.length > 1) {
    throw new UsageError(
      `Several headers may hold the signature: ${candidates.join(", ")}. Name the one that the service signs with in --signature-header.`,
    );
  }
  return candidates[0];
}

function parseLine(line: string): { name: string; value: string } {
  const [name, value] = parseHeader(line) ?? ["", line];
  return { name: name.toLowerCase(), value };
}

async function readBodyFile(terminal: Terminal, file: string): Promise<Buffer> {
  const body = await readTextFile(terminal, "--body-file", file);
  // Editors and echo add a line break; a form does not end with one.
  const trimmed = body.toString("latin1").replace(/\r?\n$/, "").length;
  if (trimmed < body.length)
    printNote(terminal, "The line break at the end of the body is ignored.");
  return body.subarray(0, trimmed);
}

function printReport(terminal: Terminal, { matches, causes, tried }: SignatureReport): void {
  if (matches) return printPainted(terminal, "green", "The signature matches.");
  for (const [index, cause] of causes.entries()) {
    const { code, isProven, explanation, fix } = cause;
    const start = `${index + 1}. ${code} (${isProven ? "proven" : "possible"})`;
    const rest = `${describeSubject(cause)}\n   ${explanation}\n   ${fix}`;
    printPainted(terminal, isProven ? "green" : "yellow", start, rest);
  }
  const { urls, tokens, combinations } = tried;
  const summary = `Tried ${combinations} combinations of ${urls.length} URLs and the tokens ${tokens.join(", ")}.`;
  printPainted(terminal, "dim", summary);
}

function describeSubject({ code, isProven, subject }: SignatureReport["causes"][number]): string {
  if (subject === undefined) return "";
  const label = isProven && code.startsWith("URL_") ? ", signed URL" : "";
  return `${label}: ${subject}`;
}
