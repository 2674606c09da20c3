import { Option, type Command } from "commander";
import { createAdminClient, type AdminClient } from "../admin";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event";
import {
  paint,
  print,
  printJson,
  printTable,
  readSecret,
  UsageError,
  withoutControls,
  type Terminal,
} from "./terminal";

interface ConnectionOptions {
  accountUrl?: string;
  verifyUrl?: string;
  accountSid?: string;
  serviceSid?: string;
  username?: string;
}

interface JsonOption {
  json?: boolean;
}

/** Adds `webhooks list|ensure|check` and `keys list|create|delete`. */
export function addAdminCommands(program: Command, terminal: Terminal): void {
  const webhooks = program.command("webhooks").description("the Webhooks of the service");
  connected(webhooks.command("list").description("list them"), terminal)
    .option("--json", "one JSON document")
    .action(async (options: ConnectionOptions & JsonOption) => {
      const client = await connect(terminal, options);
      const all = await collect(client.webhooks.list({ signal: terminal.signal }));
      if (options.json) return printJson(terminal, all);
      printTable(
        terminal,
        ["SID", "STATUS", "VERSION", "URL", "EVENTS"],
        all.map(({ sid, status, version, webhook_url, event_types }) => [
          sid,
          status,
          version,
          webhook_url,
          (event_types ?? []).join(" "),
        ]),
      );
    });
  connected(
    webhooks.command("ensure").description("make sure that there is one, as given"),
    terminal,
  )
    .requiredOption("--url <url>", "its webhook_url")
    .option("--name <name>", "its friendly_name", "push webhooks")
    .addOption(
      new Option("--events <types...>", "its event types")
        .choices(["*", ...PUSH_EVENT_TYPES])
        .default(["*"]),
    )
    .addOption(new Option("--status <status>").choices(["enabled", "disabled"]))
    .addOption(new Option("--version <version>", "of its calls").choices(["v1", "v2"]))
    .option("--json", "one JSON document")
    .action(async (options: ConnectionOptions & JsonOption & EnsureOptions) => {
      const client = await connect(terminal, options);
      const { url, name, events, status, version } = options;
      const ensured = await client.webhooks.ensure(
        {
          friendly_name: name,
          event_types: events,
          webhook_url: url,
          ...(status !== undefined && { status }),
          ...(version !== undefined && { version }),
        },
        { signal: terminal.signal },
      );
      if (options.json) return printJson(terminal, ensured);
      print(terminal, `${ensured.result} ${ensured.webhook.sid}`);
    });
  connected(webhooks.command("check").description("compare them with a receiver"), terminal)
    .requiredOption("--url <url>", "the receiver's publicUrl")
    .addOption(
      new Option("--handled <types...>", "the types that it handles")
        .choices(PUSH_EVENT_TYPES)
        .default([...PUSH_EVENT_TYPES]),
    )
    .option("--json", "one JSON document")
    .action(async (options: ConnectionOptions & JsonOption & CheckOptions) => {
      const client = await connect(terminal, options);
      const receiver = { publicUrl: options.url, handledTypes: () => options.handled };
      const findings = await client.webhooks.check(receiver, { signal: terminal.signal });
      if (findings.length > 0) terminal.hasFailed = true;
      if (options.json) return printJson(terminal, findings);
      if (findings.length === 0) print(terminal, paint(terminal, "green", "Nothing differs."));
      for (const { code, sid, message, fix } of findings) {
        print(
          terminal,
          `${paint(terminal, "yellow", code)} ${sid ?? ""}\n  ${withoutControls(message)}\n  ${fix}`,
        );
      }
    });

  const keys = program.command("keys").description("the Keys of the account");
  connected(keys.command("list").description("list them"), terminal)
    .option("--json", "one JSON document")
    .action(async (options: ConnectionOptions & JsonOption) => {
      const client = await connect(terminal, options);
      const all = await collect(client.keys.list({ signal: terminal.signal }));
      if (options.json) return printJson(terminal, all);
      printTable(
        terminal,
        ["SID", "CREATED", "NAME"],
        all.map(({ sid, date_created, friendly_name }) => [sid, date_created, friendly_name]),
      );
    });
  connected(
    keys.command("create").description("create one, and show its secret this once"),
    terminal,
  )
    .option("--name <name>", "its friendly_name")
    .option("--json", "one JSON document")
    .action(async (options: ConnectionOptions & JsonOption & { name?: string }) => {
      const client = await connect(terminal, options);
      const input = options.name === undefined ? {} : { friendly_name: options.name };
      const key = await client.keys.create(input, { signal: terminal.signal });
      if (options.json) return printJson(terminal, key);
      print(terminal, `${key.sid}\n${key.secret}`);
      terminal.stderr.write("The secret is shown this once: store it now.\n");
    });
  connected(keys.command("delete").description("revoke one"), terminal)
    .argument("<sid>", "the Key")
    .option("--force", "also the one that is used to do so")
    .option("--json", "one JSON document")
    .action(async (sid: string, options: ConnectionOptions & JsonOption & { force?: boolean }) => {
      const client = await connect(terminal, options);
      const { force = false } = options;
      await client.keys.delete(sid, { force, signal: terminal.signal });
      if (options.json) return printJson(terminal, { sid, deleted: true });
      print(terminal, `deleted ${sid}`);
    });
}

interface EnsureOptions {
  url: string;
  name: string;
  events: (PushEventType | "*")[];
  status?: "enabled" | "disabled";
  version?: "v1" | "v2";
}

interface CheckOptions {
  url: string;
  handled: PushEventType[];
}

/** Adds the options that say which service to speak to; each has a variable of the environment. */
function connected(command: Command, { env }: Terminal): Command {
  const setting = (flags: string, description: string, variable: string) => {
    const option = new Option(flags, `${description}, or $${variable}`);
    // Not Option.env(), which looks past the terminal at the process.
    return (env[variable] ?? "") === "" ? option : option.default(env[variable], `$${variable}`);
  };
  return command
    .addOption(setting("--account-url <url>", "base URL of the account API", "PUSH_ACCOUNT_URL"))
    .addOption(setting("--verify-url <url>", "that of the verification API", "PUSH_VERIFY_URL"))
    .addOption(setting("--account-sid <sid>", "the account", "PUSH_ACCOUNT_SID"))
    .addOption(setting("--service-sid <sid>", "the verification service", "PUSH_SERVICE_SID"))
    .addOption(
      setting(
        "--username <sid>",
        "a Key to speak as, whose secret is in $PUSH_KEY_SECRET; without, the account does, with $PUSH_AUTH_TOKEN",
        "PUSH_KEY_SID",
      ),
    );
}

async function connect(terminal: Terminal, options: ConnectionOptions): Promise<AdminClient> {
  const { accountUrl = "", verifyUrl = "", accountSid = "", serviceSid = "", username } = options;
  const missing = Object.entries({
    "--account-url or PUSH_ACCOUNT_URL": accountUrl,
    "--verify-url or PUSH_VERIFY_URL": verifyUrl,
    "--account-sid or PUSH_ACCOUNT_SID": accountSid,
    "--service-sid or PUSH_SERVICE_SID": serviceSid,
  }).flatMap(([name, value]) => (value === "" ? [name] : []));
  if (missing.length > 0) throw new UsageError(`Give ${missing.join(", ")}.`);
  const variable = username === undefined ? "PUSH_AUTH_TOKEN" : "PUSH_KEY_SECRET";
  const password = await readSecret(terminal, variable);
  const account = { accountUrl, verifyUrl, accountSid, serviceSid, password };
  return createAdminClient(username === undefined ? account : { ...account, username });
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
