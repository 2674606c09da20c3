import { readFile } from "node:fs/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Argument, Option, type Command } from "commander";
import { V2_PARAMETERS } from "../call-parameters";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event";
import { explainSignature } from "../explain";
import { decodeForm, type Pair } from "../form";
import { signedRequest, type SignedRequest } from "../testing";
import { paint, print, readSecret, UsageError, type Terminal } from "./terminal";

interface TriggerOptions {
  url: string;
  to?: string;
  version: "v1" | "v2";
  method: "POST" | "GET";
  signatureHeader: string;
  set: [name: string, value: string][];
  duplicate?: boolean;
  badSignature?: boolean;
}

interface ExplainOptions {
  url: string;
  header: string;
  bodyFile?: string;
  receivedUrl?: string;
  method: "POST" | "GET";
  accountSid?: string;
  json?: boolean;
}

/** Adds `trigger`, which signs and sends one call, and `explain`, which says why one is refused. */
export function addCallCommands(program: Command, terminal: Terminal): void {
  program
    .command("trigger")
    .description("sign one call with PUSH_AUTH_TOKEN and send it")
    .addArgument(new Argument("<type>", "the event").choices(PUSH_EVENT_TYPES))
    .requiredOption("--url <url>", "the receiver's publicUrl, which is signed")
    .option("--to <url>", "where to send it, if that is elsewhere")
    .addOption(new Option("--version <version>").choices(["v1", "v2"]).default("v2"))
    .addOption(new Option("--method <method>").choices(["POST", "GET"]).default("POST"))
    .option("--signature-header <name>", "the header to sign in", "X-Service-Signature")
    .option(
      "--set <name=value>",
      "a parameter, of its own or another value; may be repeated",
      addPair,
      [],
    )
    .option("--duplicate", "send it twice")
    .option("--bad-signature", "sign it with another token")
    .action(async (type: PushEventType, options: TriggerOptions) => {
      const { url, version, method, signatureHeader, set, badSignature } = options;
      const authToken = await readSecret(terminal, "PUSH_AUTH_TOKEN");
      const call = signedRequest(type, Object.fromEntries(set.filter(isKnown)), {
        authToken: badSignature === true ? `not ${authToken}` : authToken,
        publicUrl: url,
        version,
        method,
        signatureHeader,
        extraParams: Object.fromEntries(set.filter((pair) => !isKnown(pair))),
      });
      for (let copy = 0; copy < (options.duplicate === true ? 2 : 1); copy++) {
        const startedMs = performance.now();
        const status = await sendCall(call, options.to ?? call.url, terminal.signal);
        const tookMs = (performance.now() - startedMs).toFixed(1);
        const shown = paint(terminal, status === 200 ? "green" : "red", String(status));
        print(terminal, `${shown} ${type} ${version} in ${tookMs} ms`);
        if (status !== 200) terminal.hasFailed = true;
      }
    });

  program
    .command("explain")
    .description("say why a captured call does not verify, with PUSH_AUTH_TOKEN")
    .requiredOption("--url <url>", "the receiver's publicUrl")
    .requiredOption("--header <signature>", "the signature header: its value, or the whole line")
    .option("--body-file <file>", "the body as it was received")
    .option("--received-url <url>", "the URL as the request shows it")
    .addOption(new Option("--method <method>").choices(["POST", "GET"]).default("POST"))
    .option("--account-sid <sid>", "the account that the token is of")
    .option("--json", "one JSON document")
    .action(async (options: ExplainOptions) => {
      const { url, header, bodyFile, receivedUrl, method, accountSid } = options;
      const body = bodyFile === undefined ? undefined : await readBodyFile(bodyFile);
      const report = explainSignature({
        authToken: await readSecret(terminal, "PUSH_AUTH_TOKEN"),
        url,
        method,
        signature: header.replace(/^[\w-]+:\s*/, ""),
        params: body === undefined ? [] : decodeLeniently(body),
        ...(body !== undefined && { body }),
        ...(receivedUrl !== undefined && { receivedUrl }),
        ...(accountSid !== undefined && { accountSid }),
      });
      if (!report.matches) terminal.hasFailed = true;
      if (options.json === true) return print(terminal, JSON.stringify(report, null, 2));
      if (report.matches) return print(terminal, paint(terminal, "green", "It does verify."));
      for (const [
        index,
        { code, isProven, explanation, fix, subject },
      ] of report.causes.entries()) {
        const proof = isProven ? paint(terminal, "green", "proven") : "possible";
        print(
          terminal,
          `${index + 1}. ${code} (${proof})${subject === undefined ? "" : `: ${subject}`}`,
        );
        print(terminal, `   ${explanation}\n   ${fix}`);
      }
      const { urls, tokens, combinations } = report.tried;
      const tried = `Tried ${combinations} combinations of ${urls.length} URLs and the tokens ${tokens.join(", ")}.`;
      print(terminal, paint(terminal, "dim", tried));
    });
}

function isKnown([name]: [string, string]): boolean {
  return (V2_PARAMETERS as readonly string[]).includes(name);
}

function addPair(text: string, pairs: [string, string][]): [string, string][] {
  const equals = text.indexOf("=");
  if (equals < 1) throw new UsageError(`--set takes name=value, got ${JSON.stringify(text)}.`);
  return [...pairs, [text.slice(0, equals), text.slice(equals + 1)]];
}

async function readBodyFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`--body-file ${file} cannot be read.`, { cause: error });
  }
}

/** A body that is no form has no parameters; explaining it starts from there. */
function decodeLeniently(body: Uint8Array): Pair[] {
  try {
    return decodeForm(body);
  } catch {
    return [];
  }
}

function sendCall(call: SignedRequest, to: string, signal: AbortSignal): Promise<number> {
  const { method, body, headers } = call;
  const target = new URL(to);
  // The query as it is signed: URL would write some characters another way.
  const path = target.pathname + call.path.replace(/^[^?]*/, "");
  const open = target.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const request = open(target, { method, path, headers: { ...headers, ...length }, signal });
    request.setTimeout(15_000, () => request.destroy(new Error("no answer within 15 s")));
    request.on("error", reject).on("response", (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    request.end(body);
  });
}
