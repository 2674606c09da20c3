import { setTimeout as sleep } from "node:timers/promises";
import { Argument, type Command } from "commander";
import { createSid } from "../kit/sid";
import { cutText } from "../kit/text";
import { INVENTED_PREFIX, listParameterNames, signRequest } from "../core/door";
import { PUSH_EVENT_TYPES, type PushEventType } from "../index";
import { FORM_CONTENT_TYPES } from "../kit/form-type";
import { SendError, sendRequest, type WebhookRequest, type WebhookResponse } from "../emulator";
import { signedRequest } from "../testing";
import { printJson, printNote, printPainted, type Terminal } from "./terminal";
import { addSignatureHeader, readSecret } from "./environment";
import { explainForbidden, isOfReceiver } from "./rejected-request";
import { assertUrl, choice, parseHeader, UsageError } from "./arguments";

interface TriggerOptions {
  url: string;
  to?: string;
  host?: string;
  header?: [name: string, value: string][];
  contentType?: string;
  version: "v1" | "v2";
  method: "POST" | "GET";
  signatureHeader: string;
  set?: [name: string, value: string][];
  duplicate?: boolean;
  badSignature?: boolean;
  json?: boolean;
}

const CONFIRM_REJECTS =
  "A receiver with confirm rejects this invented challenge: its 403, and in a queue no run of a handler, proves everything before confirm. push-webhooks rehearse proves the rest.";
const RETRY_FOR_MS = 2_000;
const PAUSE_MS = 100;

/** Adds `trigger`, which signs a webhook request and sends it. */
export function addTriggerCommand(program: Command, terminal: Terminal): void {
  addSignatureHeader(program.command("trigger"), terminal)
    .description("sign a webhook request with PUSH_AUTH_TOKEN and send it")
    .addArgument(new Argument("<type>", "type of the event").choices(PUSH_EVENT_TYPES))
    .requiredOption("--url <url>", "publicUrl of the receiver; it is signed")
    .option("--to <url>", "URL to send the request to, if it is not the publicUrl")
    .option("--host <host>", "Host header; the default with --to is the host of --url")
    .option("--header <line>", 'another header, as for curl: "Name: value"; repeatable', addHeader)
    .option("--content-type <type>", "content type of a POST")
    .addOption(choice("--version <version>", "version of the event", ["v1", "v2"], "v2"))
    .addOption(choice("--method <method>", "HTTP method", ["POST", "GET"], "POST"))
    .option(
      "--set <name=value>",
      "set a parameter, also one that the specification does not have; repeatable",
      addPair,
    )
    .option("--duplicate", "send the request twice")
    .option("--bad-signature", "sign with another token")
    .option("--json", "print one JSON document")
    .action(async (type: PushEventType, options: TriggerOptions) => {
      const { version, method } = options;
      const ids = chooseIds(type, options);
      if (isOfChallenge(type)) printNote(terminal, CONFIRM_REJECTS);
      const signed = await createRequest(terminal, type, options, ids);
      const probe = (signatureHeader: string) => {
        const request = signWithoutUuid(signed, options.url, signatureHeader);
        return sendRequest(addressRequest(request, options), { signal: terminal.signal });
      };
      const sender = {
        signatureHeader: options.signatureHeader,
        urlFlag: "--url",
        probe: options.badSignature === true ? undefined : probe,
      };
      const shownIds = Object.entries(ids).map(([name, value]) => `${name} ${value}`);
      const results: object[] = [];
      const addressed = addressRequest(signed.request, options);
      for (let copy = 0; copy < (options.duplicate === true ? 2 : 1); copy++) {
        const { response, durationMs } = await sendToLateReceiver(terminal, addressed);
        const { status } = response;
        const isForbidden = status === 403 && isOfReceiver(response);
        const reason = isForbidden
          ? await explainForbidden(sender)
          : explainResponse(response, method);
        results.push({ type, version, ...ids, status, durationMs, reason });
        if (status !== 200) terminal.hasFailed = true;
        if (reason !== undefined) printNote(terminal, reason);
        if (options.json === true) continue;
        const rest = ` ${type} ${version} in ${durationMs.toFixed(1)} ms (${shownIds.join(", ")})`;
        printPainted(terminal, status === 200 ? "green" : "red", String(status), rest);
      }
      if (options.json === true) printJson(terminal, results);
    });
}

function isOfChallenge(type: PushEventType): boolean {
  return type.startsWith("challenge.");
}

/** Chooses random identifiers: a repeated SID would meet the outcome of an earlier run. */
function chooseIds(type: PushEventType, { set = [] }: TriggerOptions): Record<string, string> {
  const given = new Map(set);
  const uuid = given.get("uuid") ?? `${INVENTED_PREFIX}${crypto.randomUUID()}`;
  if (!isOfChallenge(type)) return { uuid };
  return { uuid, challenge_sid: given.get("challenge_sid") ?? createSid("YC") };
}

/**
 * Sends a webhook request to an app that may still be starting: tries again for 2 s while its port
 * refuses connections.
 */
async function sendToLateReceiver(terminal: Terminal, request: WebhookRequest) {
  const { signal } = terminal;
  const deadlineAtMs = performance.now() + RETRY_FOR_MS;
  for (let attempt = 1; ; attempt++) {
    const startMs = performance.now();
    try {
      const response = await sendRequest(request, { signal });
      return { response, durationMs: performance.now() - startMs };
    } catch (error) {
      const isRefused = error instanceof SendError && error.code === "ECONNREFUSED";
      if (!isRefused || performance.now() >= deadlineAtMs) throw error;
      const { host } = new URL(request.url);
      if (attempt === 1) printNote(terminal, `No server listens on ${host} yet. Trying for 2 s.`);
      // An interruption ends the pause; the next attempt rejects then.
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** What may respond with a status before a request reaches the receiver. */
const OTHER_PARTS = new Map([
  [401, "one that asks for credentials"],
  [403, "CSRF protection, a login or a firewall"],
  [429, "a rate limiter"],
]);

/** What a receiver rejects with these statuses. */
const REJECTIONS = new Map([
  [400, "a parameter is missing or malformed, or the text has a second reading"],
  [413, "the body is over limitBytes"],
  [415, "the body must be a form; pass another --content-type"],
  [500, "a handler failed, or another middleware has read the body"],
  [503, "its store or its service is not available, or it is closing"],
]);

function explainResponse(response: WebhookResponse, method: "POST" | "GET"): string | undefined {
  const { status, headers } = response;
  if (status === 200) return undefined;
  if (isOfReceiver(response)) {
    if (status === 405) {
      return `The receiver does not accept ${method}. Add it to the option methods of the receiver.`;
    }
    return `The receiver rejected the request: ${REJECTIONS.get(status) ?? "it failed"}. The log of the app, or its process warning, says why.`;
  }
  const { location } = headers;
  if (typeof location === "string") {
    return `Another part of the app, or a proxy, redirects to ${cutText(location, 300)} instead of the receiver. Use that URL as webhook_url if only its scheme, host or slash differs; otherwise mount the receiver before this part.`;
  }
  if (method === "GET" && (status === 404 || status === 405)) {
    return "The app does not accept GET at this path. Mount the receiver with app.use(path, push), which passes on GET; app.post(path, push) does not.";
  }
  if (status === 404) return "No receiver is mounted at this path.";
  if (status === 405) return "The app or a proxy does not accept POST at this path.";
  const example = OTHER_PARTS.get(status) ?? "its error handler";
  return `Another part of the app, or a proxy, responded instead of the receiver, such as ${example}. Mount the receiver before it.`;
}

// The receiver decides about a text with a second reading: it may have a confirm of its own.
const confirm = () => true;

interface Signed {
  request: WebhookRequest;
  authToken: string;
}

async function createRequest(
  terminal: Terminal,
  type: PushEventType,
  options: TriggerOptions,
  ids: Record<string, string>,
): Promise<Signed> {
  const { url, to, version, method, signatureHeader, set = [], badSignature } = options;
  const { contentType } = options;
  assertUrl("--url", url);
  if (to !== undefined) assertUrl("--to", to);
  const token = await readSecret(terminal, "PUSH_AUTH_TOKEN");
  const authToken = badSignature === true ? `not ${token}` : token;
  const names: readonly string[] = listParameterNames(type, version);
  // Later versions may have further parameters: any name can be sent.
  const extra = set.filter(([name]) => !names.includes(name));
  for (const [name] of extra) {
    printNote(terminal, `${type} ${version} has no parameter ${name}: it is sent as an extra.`);
  }
  const known = Object.fromEntries(set.filter(([name]) => names.includes(name)));
  const settings = { authToken, publicUrl: url, signatureHeader, confirm };
  const extraParams = Object.fromEntries(extra);
  const rest = { version, method, extraParams, contentType };
  return { request: signedRequest(settings, type, { ...known, ...ids }, rest), authToken };
}

/** Signs the event of a request again, under this header and without its uuid. */
function signWithoutUuid(
  { request, authToken }: Signed,
  webhookUrl: string,
  signatureHeader: string,
): WebhookRequest {
  const { method, body, url } = request;
  const configured = new Set(new URL(webhookUrl).searchParams.keys());
  const sent =
    body === undefined
      ? [...new URL(url).searchParams].filter(([name]) => !configured.has(name))
      : [...new URLSearchParams(body)];
  const params = sent.filter(([name]) => name !== "uuid");
  const [contentType] = FORM_CONTENT_TYPES;
  return signRequest({ authToken, webhookUrl, method, signatureHeader, contentType, params });
}

/**
 * Addresses a request to `--to`, with the headers that the service would send. A GET has the signed
 * parameters in its query.
 */
function addressRequest(
  request: WebhookRequest,
  { url, to = url, host, header = [] }: TriggerOptions,
): WebhookRequest {
  const shownHost = host ?? (to === url ? undefined : new URL(url).host);
  const headers = {
    ...request.headers,
    ...(shownHost !== undefined && { Host: shownHost }),
    ...Object.fromEntries(header),
  };
  if (request.method !== "GET") return { ...request, headers, url: to };
  const [query = ""] = /\?.*$/s.exec(request.url) ?? [];
  return { ...request, headers, url: to.replace(/[?#].*$/s, "") + query };
}

function addHeader(line: string, headers: [string, string][] | undefined): [string, string][] {
  const header = parseHeader(line);
  if (header !== undefined) return [...(headers ?? []), header];
  throw new UsageError(`--header must be "Name: value"; received ${JSON.stringify(line)}.`);
}

function addPair(text: string, pairs: [string, string][] | undefined): [string, string][] {
  const equals = text.indexOf("=");
  if (equals < 1) {
    throw new UsageError(`--set must be name=value; received ${JSON.stringify(text)}.`);
  }
  return [...(pairs ?? []), [text.slice(0, equals), text.slice(equals + 1)]];
}
