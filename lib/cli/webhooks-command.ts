import { Option, type Command } from "commander";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event/event";
import {
  addServiceOptions,
  collect,
  connectToService,
  type ServiceOptions,
} from "./service-connection";
import { paint, print, printJson, printTable, withoutControls, type Terminal } from "./terminal";

interface EnsureOptions extends ServiceOptions {
  url: string;
  name: string;
  events: (PushEventType | "*")[];
  status?: "enabled" | "disabled";
  version?: "v1" | "v2";
}

interface CheckOptions extends ServiceOptions {
  url: string;
  handled: PushEventType[];
}

/** Adds `webhooks list|ensure|check`. */
export function addWebhooksCommand(program: Command, terminal: Terminal): void {
  const webhooks = program.command("webhooks").description("manage the Webhooks of the service");
  addServiceOptions(webhooks.command("list").description("list the Webhooks"), terminal).action(
    async (options: ServiceOptions) => listWebhooks(terminal, options),
  );
  addServiceOptions(
    webhooks
      .command("ensure")
      .description("create or update the Webhook of a URL")
      .requiredOption("--url <url>", "webhook_url of the Webhook")
      .option("--name <name>", "friendly_name of the Webhook", "push webhooks")
      .addOption(
        new Option("--events <types...>", "types of events that the Webhook subscribes to")
          .choices(["*", ...PUSH_EVENT_TYPES])
          .default(["*"]),
      )
      .addOption(
        new Option("--status <status>", "status of the Webhook").choices(["enabled", "disabled"]),
      )
      .addOption(new Option("--version <version>", "version of its events").choices(["v1", "v2"])),
    terminal,
  ).action(async (options: EnsureOptions) => ensureWebhook(terminal, options));
  addServiceOptions(
    webhooks
      .command("check")
      .description("report the configuration drift between the Webhooks and a receiver")
      .requiredOption("--url <url>", "publicUrl of the receiver")
      .addOption(
        new Option("--handled <types...>", "types of events that the receiver handles")
          .choices(PUSH_EVENT_TYPES)
          .default([...PUSH_EVENT_TYPES]),
      ),
    terminal,
  ).action(async (options: CheckOptions) => checkWebhooks(terminal, options));
}

async function listWebhooks(terminal: Terminal, options: ServiceOptions): Promise<void> {
  const client = await connectToService(terminal, options);
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
}

async function ensureWebhook(terminal: Terminal, options: EnsureOptions): Promise<void> {
  const client = await connectToService(terminal, options);
  const { url, name, events, status, version } = options;
  const input = { friendly_name: name, event_types: events, webhook_url: url, status, version };
  const ensured = await client.webhooks.ensure(input, { signal: terminal.signal });
  if (options.json) return printJson(terminal, ensured);
  print(terminal, `${ensured.result} ${ensured.webhook.sid}`);
}

async function checkWebhooks(terminal: Terminal, options: CheckOptions): Promise<void> {
  const client = await connectToService(terminal, options);
  const receiver = { publicUrl: options.url, handledTypes: () => options.handled };
  const findings = await client.webhooks.check(receiver, { signal: terminal.signal });
  if (findings.length > 0) terminal.hasFailed = true;
  if (options.json) return printJson(terminal, findings);
  if (findings.length === 0) {
    print(terminal, paint(terminal, "green", "No configuration drift."));
  }
  for (const { code, sid, message, fix } of findings) {
    print(
      terminal,
      `${paint(terminal, "yellow", code)} ${sid ?? ""}\n  ${withoutControls(message)}\n  ${fix}`,
    );
  }
}
