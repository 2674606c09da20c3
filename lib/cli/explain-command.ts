import { readFile } from "node:fs/promises";
import { Option, type Command } from "commander";
import type { WebhookError } from "../errors";
import { explainCause, explainSignature } from "../explain";
import { readBody } from "../explain-bodies";
import type { SignatureReport } from "../explain-causes";
import { createCoverGet } from "../signed-parts";
import {
  paint,
  print,
  printJson,
  readSecret,
  UsageError,
  withoutControls,
  type Terminal,
} from "./terminal";

interface ExplainOptions {
  url: string;
  header: string;
  bodyFile?: string;
  receivedUrl?: string;
  method: "POST" | "GET";
  accountSid?: string;
  json?: boolean;
}

/** Adds `explain`, which says why a captured call does not verify. */
export function addExplainCommand(program: Command, terminal: Terminal): void {
  program
    .command("explain")
    .description("say why a captured call does not verify, with PUSH_AUTH_TOKEN")
    .requiredOption("--url <url>", "the receiver's publicUrl")
    .requiredOption("--header <signature>", "the signature header: its value, or the whole line")
    .option("--body-file <file>", "the body of a POST as it was received")
    .option("--received-url <url>", "the URL as the request shows it; needed for a GET")
    .addOption(new Option("--method <method>").choices(["POST", "GET"]).default("POST"))
    .option("--account-sid <sid>", "the account that the token is of")
    .option("--json", "one JSON document")
    .action(async (options: ExplainOptions) => {
      const report = await explain(terminal, options);
      if (!report.matches) terminal.hasFailed = true;
      if (options.json === true) printJson(terminal, report);
      else printReport(terminal, report);
    });
}

async function explain(terminal: Terminal, options: ExplainOptions): Promise<SignatureReport> {
  const { url, header, bodyFile, receivedUrl, method, accountSid } = options;
  if (method === "GET" && receivedUrl === undefined) {
    throw new UsageError("A GET carries its parameters in its URL: give that as --received-url.");
  }
  if (method === "POST" && bodyFile === undefined) {
    terminal.stderr.write("Without --body-file only the URL and the signature can be looked at.\n");
  }
  let signedUrl = url;
  if (method === "GET" && receivedUrl !== undefined) {
    try {
      signedUrl = createCoverGet([url], "exact")(receivedUrl)[0]?.signedUrls[0] ?? url;
    } catch (error) {
      return (error as WebhookError).explain() ?? explainCause("URL_QUERY_ENCODING");
    }
  }
  const body = bodyFile === undefined ? undefined : await readBodyFile(terminal, bodyFile);
  return explainSignature({
    authToken: await readSecret(terminal, "PUSH_AUTH_TOKEN"),
    url: signedUrl,
    method,
    signature: header.replace(/^[\w-]+:\s*/, ""),
    params: method === "POST" ? (readBody(body) ?? []) : [],
    ...(body !== undefined && { body }),
    ...(receivedUrl !== undefined && { receivedUrl }),
    ...(accountSid !== undefined && { accountSid }),
  });
}

async function readBodyFile({ stderr }: Terminal, file: string): Promise<Buffer> {
  let body: Buffer;
  try {
    body = await readFile(file);
  } catch (error) {
    throw new UsageError(`--body-file ${file} cannot be read.`, { cause: error });
  }
  // Editors and echo add one; a form does not end with one.
  const trimmed = body.toString("latin1").replace(/\r?\n$/, "").length;
  if (trimmed < body.length) stderr.write("The line break at the end of the body is left out.\n");
  return body.subarray(0, trimmed);
}

function printReport(terminal: Terminal, { matches, causes, tried }: SignatureReport): void {
  if (matches) return print(terminal, paint(terminal, "green", "It does verify."));
  for (const [index, { code, isProven, explanation, fix, subject }] of causes.entries()) {
    const proof = isProven ? paint(terminal, "green", "proven") : "possible";
    const about = subject === undefined ? "" : `: ${withoutControls(subject)}`;
    print(terminal, `${index + 1}. ${code} (${proof})${about}\n   ${explanation}\n   ${fix}`);
  }
  const { urls, tokens, combinations } = tried;
  const summary = `Tried ${combinations} combinations of ${urls.length} URLs and the tokens ${tokens.join(", ")}.`;
  print(terminal, paint(terminal, "dim", summary));
}
