import { Option, type Command } from "commander";
import type { Finding } from "../admin";
import { PUSH_EVENT_TYPES, type PushEventType } from "../event/event";
import { hideUserInfo } from "../form/url";
import { addServiceAction, collect, type ServiceOptions } from "./service-connection";
import { paint, print, printJson, printTable, withoutControls, type Terminal } from "./terminal";
import { choice } from "./arguments";

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
  const { signal } = terminal;
  const webhooks = program.command("webhooks").description("manage the Webhooks of the service");
  const list = webhooks.command("list").description("list the Webhooks");
  const ensure = webhooks
    .command("ensure")
    .description("create or update the Webhook of a URL")
    .requiredOption("--url <url>", "webhook_url of the Webhook")
    .option("--name <name>", "friendly_name of the Webhook", "push webhooks")
    .addOption(
      new Option("--events <types...>", "types of events that the Webhook subscribes to")
        .choices(["*", ...PUSH_EVENT_TYPES])
        .default(["*"]),
    )
    .addOption(choice("--status <status>", "status of the Webhook", ["enabled", "disabled"]))
    .addOption(choice("--version <version>", "version of its events", ["v1", "v2"]));
  const check = webhooks
    .command("check")
    .description("report the configuration drift between the Webhooks and a receiver")
    .requiredOption("--url <url>", "publicUrl of the receiver")
    .addOption(
      new Option("--handled <types...>", "types of events that the receiver handles")
        .choices(PUSH_EVENT_TYPES)
        .default([...PUSH_EVENT_TYPES]),
    );

  addServiceAction(list, terminal, async (client) => {
    const all = await collect(client.webhooks.list({ signal }));
    if (list.opts<ServiceOptions>().json) return printJson(terminal, all);
    const rows = all.map(({ sid, status, version, webhook_url, event_types }) => {
      return [sid, status, version, hideUserInfo(webhook_url ?? ""), (event_types ?? []).join(" ")];
    });
    printTable(terminal, ["SID", "STATUS", "VERSION", "URL", "EVENTS"], rows);
  });

  addServiceAction(ensure, terminal, async (client) => {
    const { url, name, events, status, version, json } = ensure.opts<EnsureOptions>();
    const input = { friendly_name: name, event_types: events, webhook_url: url, status, version };
    const ensured = await client.webhooks.ensure(input, { signal });
    if (json) return printJson(terminal, ensured);
    print(terminal, `${ensured.result} ${ensured.webhook.sid}`);
    printFindings(terminal, ensured.findings);
  });

  addServiceAction(check, terminal, async (client) => {
    const { url, handled, json } = check.opts<CheckOptions>();
    const receiver = { publicUrl: url, handledTypes: () => handled };
    const findings = await client.webhooks.check(receiver, { signal });
    if (findings.length > 0) terminal.hasFailed = true;
    if (json) return printJson(terminal, findings);
    if (findings.length === 0) print(terminal, paint(terminal, "green", "No configuration drift."));
    printFindings(terminal, findings);
  });
}

function printFindings(terminal: Terminal, findings: readonly Finding[]): void {
  for (const { code, sid, message, fix } of findings) {
    const title = `${paint(terminal, "yellow", code)} ${sid ?? ""}`;
    print(terminal, `${title}\n  ${withoutControls(message)}\n  ${fix}`);
  }
}
