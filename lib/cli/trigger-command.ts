import { Argument, Option, type Command } from "commander";
import type { SignedCall } from "../call";
import { V1_PARAMETERS, V2_PARAMETERS } from "../call-parameters";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event";
import { readUserInfo, sendCall, SendFailure } from "../send";
import { signedRequest } from "../testing";
import { isHttpUrl } from "../url";
import { paint, print, printJson, readSecret, UsageError, type Terminal } from "./terminal";

interface TriggerOptions {
  url: string;
  to?: string;
  version: "v1" | "v2";
  method: "POST" | "GET";
  signatureHeader: string;
  set: [name: string, value: string][];
  duplicate?: boolean;
  badSignature?: boolean;
  json?: boolean;
}

const TIMEOUT_MS = 15_000;

/** What to look at when a call was not taken. */
const HINTS: Readonly<Record<number, string>> = {
  403: "The receiver's publicUrl and authToken must be those that are used here; its onRejected says more.",
  404: "Nothing is mounted at that path.",
};

/** Adds `trigger`, which signs one call and sends it. */
export function addTriggerCommand(program: Command, terminal: Terminal): void {
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
    .option("--json", "one JSON document")
    .action(async (type: PushEventType, options: TriggerOptions) => {
      const call = await createCall(terminal, type, options);
      const results: object[] = [];
      for (let copy = 0; copy < (options.duplicate === true ? 2 : 1); copy++) {
        const startedMs = performance.now();
        const status = await send(call, options, terminal.signal);
        const durationMs = performance.now() - startedMs;
        results.push({ type, version: options.version, status, durationMs });
        if (status !== 200) terminal.hasFailed = true;
        if (HINTS[status] !== undefined) terminal.stderr.write(`${HINTS[status]}\n`);
        if (options.json === true) continue;
        const shown = paint(terminal, status === 200 ? "green" : "red", String(status));
        print(terminal, `${shown} ${type} ${options.version} in ${durationMs.toFixed(1)} ms`);
      }
      if (options.json === true) printJson(terminal, results);
    });
}

async function createCall(
  terminal: Terminal,
  type: PushEventType,
  options: TriggerOptions,
): Promise<SignedCall> {
  const { url, to, version, method, signatureHeader, set, badSignature } = options;
  assertUrl("--url", url);
  if (to !== undefined) assertUrl("--to", to);
  const authToken = await readSecret(terminal, "PUSH_AUTH_TOKEN");
  // What a call of this kind does not have is an extra parameter, as a later version may have it.
  const names: readonly string[] = version === "v1" ? V1_PARAMETERS : V2_PARAMETERS;
  const belongs = (name: string) =>
    names.includes(name) && (type.startsWith("challenge.") || !name.startsWith("challenge_"));
  const extra = set.filter(([name]) => !belongs(name));
  for (const [name] of extra) {
    terminal.stderr.write(`${name} is no parameter of such a call: it is sent as an extra one.\n`);
  }
  const settings = {
    authToken: badSignature === true ? `not ${authToken}` : authToken,
    publicUrl: url,
    signatureHeader,
  };
  const overrides = Object.fromEntries(set.filter(([name]) => belongs(name)));
  const extraParams = Object.fromEntries(extra);
  return signedRequest(settings, type, overrides, { version, method, extraParams });
}

async function send(
  call: SignedCall,
  { url, to = url }: TriggerOptions,
  signal: AbortSignal,
): Promise<number> {
  const [, query = ""] = /^[^?]*(\?.*)?$/s.exec(call.url) ?? [];
  // For a GET the query is what is signed; for a POST it is what its address has.
  const target = call.method === "GET" ? to.replace(/[?#].*$/s, "") + query : to;
  const { status } = await sendCall(
    { ...call, url: target.replace(/\/\/[^/?#]*@/, "//").replace(/#.*$/s, "") },
    {
      connectTimeoutMs: TIMEOUT_MS,
      timeoutMs: TIMEOUT_MS,
      auth: readUserInfo(to),
      dropConnection: false,
      signal,
      onSent: () => {},
    },
  ).catch((error: unknown) => {
    if (!(error instanceof SendFailure)) throw error;
    throw new Error(`${error.code}: ${error.message}`, { cause: error });
  });
  return status;
}

function assertUrl(flag: string, url: string): void {
  if (isHttpUrl(url)) return;
  throw new UsageError(`${flag} takes an absolute http or https URL, got ${JSON.stringify(url)}.`);
}

function addPair(text: string, pairs: [string, string][]): [string, string][] {
  const equals = text.indexOf("=");
  if (equals < 1) throw new UsageError(`--set takes name=value, got ${JSON.stringify(text)}.`);
  return [...pairs, [text.slice(0, equals), text.slice(equals + 1)]];
}
