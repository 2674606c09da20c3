import { Option, type Command } from "commander";
import { ApiError, createAdminClient, type AdminClient, type Finding } from "../admin";
import { PUSH_EVENT_TYPES as TYPES, type PushEventType } from "../index";
import { hideUserInfo } from "../kit/url";
import { choice, UsageError } from "./arguments";
import { readSecret, readVariable, SERVICE_SETTINGS, type Variable } from "./environment";
import { withProxy } from "./proxy";
import { print, printJson, printNote, printPainted, printTable } from "./terminal";
import type { Terminal } from "./terminal";

interface ServiceOptions {
  accountUrl?: string;
  verifyUrl?: string;
  accountSid?: string;
  serviceSid?: string;
  username?: string;
  json?: boolean;
  name: string;
  force?: boolean;
  url: string;
  events: (PushEventType | "*")[];
  handled: PushEventType[];
  status?: "enabled" | "disabled";
  version?: "v1" | "v2";
}

/** The settings that each API needs. */
const KEYS: readonly Variable[] = ["PUSH_ACCOUNT_URL", "PUSH_ACCOUNT_SID"];
const WEBHOOKS: readonly Variable[] = ["PUSH_VERIFY_URL", "PUSH_ACCOUNT_SID", "PUSH_SERVICE_SID"];

/** Adds `keys list|create|delete`. */
export function addKeysCommand(program: Command, terminal: Terminal): void {
  const { signal } = terminal;
  const keys = program.command("keys").description("manage the Keys of the account");
  const list = keys.command("list").description("list the Keys");
  const create = keys
    .command("create")
    .description("create a Standard Key and print its secret, which is shown only once")
    .option("--name <name>", "friendly_name of the Key");
  const remove = keys
    .command("delete")
    .description("revoke a Key")
    .argument("<sid>", "SID of the Key")
    .option("--force", "also revoke the Key of --username");

  addServiceAction(list, terminal, KEYS, async (client, { json }) => {
    const all = await collect(client.keys.list({ signal }));
    if (json) return printJson(terminal, all);
    const rows = all.map((key) => [key.sid, key.date_created, key.friendly_name]);
    printTable(terminal, ["SID", "CREATED", "NAME"], rows);
  });

  addServiceAction(create, terminal, KEYS, async (client, { name, json }) => {
    const key = await client.keys.create({ friendly_name: name }, { signal });
    if (json) return printJson(terminal, key);
    print(terminal, `${key.sid}\n${key.secret}`);
    printNote(terminal, "The secret is shown only once: store it now.");
  });

  addServiceAction(remove, terminal, KEYS, async (client, { force, json }, sid) => {
    await client.keys.delete(sid, { force, signal });
    if (json) return printJson(terminal, { sid, deleted: true });
    print(terminal, `deleted ${sid}`);
  });
}

/** Adds `webhooks list|ensure|check`. */
export function addWebhooksCommand(program: Command, terminal: Terminal): void {
  const { signal } = terminal;
  const webhooks = program.command("webhooks").description("manage the Webhooks of the service");
  const list = webhooks.command("list").description("list the Webhooks");
  const ensure = webhooks
    .command("ensure")
    .description("create or update the Webhook of a URL")
    .requiredOption("--url <url>", "webhook_url of the Webhook")
    .option("--name <name>", "friendly_name of the Webhook", "push webhooks")
    .addOption(choice("--events <types...>", "types of events to send", ["*", ...TYPES], ["*"]))
    .addOption(choice("--status <status>", "status of the Webhook", ["enabled", "disabled"]))
    .addOption(choice("--version <version>", "version of its events", ["v1", "v2"]));
  const check = webhooks
    .command("check")
    .description("report the configuration drift between the Webhooks and a receiver")
    .requiredOption("--url <url>", "publicUrl of the receiver")
    .addOption(choice("--handled <types...>", "types that the receiver handles", TYPES, TYPES));

  addServiceAction(list, terminal, WEBHOOKS, async (client, { json }) => {
    const all = await collect(client.webhooks.list({ signal }));
    if (json) return printJson(terminal, all);
    const rows = all.map(({ sid, status, version, webhook_url, event_types }) => {
      return [sid, status, version, hideUserInfo(webhook_url ?? ""), (event_types ?? []).join(" ")];
    });
    printTable(terminal, ["SID", "STATUS", "VERSION", "URL", "EVENTS"], rows);
  });

  addServiceAction(ensure, terminal, WEBHOOKS, async (client, options) => {
    const { url, name, events, status, version, json } = options;
    const input = { friendly_name: name, event_types: events, webhook_url: url, status, version };
    const ensured = await client.webhooks.ensure(input, { signal });
    if (json) return printJson(terminal, ensured);
    print(terminal, `${ensured.result} ${ensured.webhook.sid}`);
    printFindings(terminal, ensured.findings);
  });

  addServiceAction(check, terminal, WEBHOOKS, async (client, { url, handled, json }) => {
    const receiver = { publicUrl: url, handledTypes: () => handled };
    const findings = await client.webhooks.check(receiver, { signal });
    if (findings.length > 0) terminal.hasFailed = true;
    if (json) return printJson(terminal, findings);
    if (findings.length === 0) printPainted(terminal, "green", "No configuration drift.");
    printFindings(terminal, findings);
  });
}

/**
 * Adds the options of the service, each with a variable of the environment, and the action, which
 * receives a client, the options, and the argument of the command, or "".
 */
function addServiceAction(
  command: Command,
  terminal: Terminal,
  needed: readonly Variable[],
  run: (client: AdminClient, options: ServiceOptions, argument: string) => Promise<void>,
): void {
  for (const [flags, variable, description] of SERVICE_SETTINGS) {
    const option = new Option(flags, `${description}, or $${variable}`);
    // Option.env() would read the environment of the process instead of the terminal's.
    const value = readVariable(terminal, variable);
    command.addOption(value === "" ? option : option.default(value, `$${variable}`));
  }
  command.option("--json", "print one JSON document").action(async () => {
    const options = command.opts<ServiceOptions>();
    const client = await connectToService(terminal, options, needed);
    try {
      await withProxy(terminal, () => run(client, options, command.args[0] ?? ""));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "OWN_KEY") {
        terminal.hasFailed = true;
        return printNote(terminal, OWN_KEY);
      }
      if (error.status !== 401) throw error;
      throw new Error(client.usesKey ? KEY_REJECTED : ACCOUNT_REJECTED, { cause: error });
    }
  });
}

const OWN_KEY =
  "push-webhooks: This is the Key of --username or PUSH_KEY_SID. Pass --force, or use other credentials.";
const ACCOUNT_REJECTED =
  "The service rejected the credentials. Set PUSH_AUTH_TOKEN to the auth token of the account of --account-sid or PUSH_ACCOUNT_SID.";
const KEY_REJECTED =
  "The service rejected the credentials. Set PUSH_KEY_SECRET to the secret of the Key of --username or PUSH_KEY_SID; only a Main Key manages Keys.";

/** Creates a client from the options of a command. @throws UsageError for a missing option. */
async function connectToService(
  terminal: Terminal,
  { accountUrl, verifyUrl, accountSid, serviceSid, username }: ServiceOptions,
  needed: readonly Variable[],
) {
  const variable = username === undefined ? "PUSH_AUTH_TOKEN" : "PUSH_KEY_SECRET";
  const values = [accountUrl, verifyUrl, accountSid, serviceSid];
  const missing = SERVICE_SETTINGS.filter(
    ([, name], index) => needed.includes(name) && values[index] === undefined,
  ).map(([flags, name]) => `${flags.replace(/ .*/, "")} or ${name}`);
  // A terminal is asked for the secret.
  if (!terminal.stdin.isTTY && readVariable(terminal, variable) === "") missing.push(variable);
  if (missing.length > 0) throw new UsageError(`Set ${missing.join(", ")}.`);
  const password = await readSecret(terminal, variable);
  return createAdminClient({
    ...(accountUrl !== undefined && { accountUrl }),
    ...(verifyUrl !== undefined && serviceSid !== undefined && { verifyUrl, serviceSid }),
    accountSid,
    username,
    password,
  });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function printFindings(terminal: Terminal, findings: readonly Finding[]): void {
  for (const { code, sid, message, fix } of findings) {
    printPainted(terminal, "yellow", code, ` ${sid ?? ""}\n  ${message}\n  ${fix}`);
  }
}
