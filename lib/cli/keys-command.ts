import type { Command } from "commander";
import {
  addServiceOptions,
  collect,
  connectToService,
  type ServiceOptions,
} from "./service-connection";
import { print, printJson, printTable, type Terminal } from "./terminal";

/** Adds `keys list|create|delete`. */
export function addKeysCommand(program: Command, terminal: Terminal): void {
  const keys = program.command("keys").description("manage the Keys of the account");
  addServiceOptions(keys.command("list").description("list the Keys"), terminal).action(
    async (options: ServiceOptions) => listKeys(terminal, options),
  );
  addServiceOptions(
    keys
      .command("create")
      .description("create a Standard Key and print its secret, which is shown only once")
      .option("--name <name>", "friendly_name of the Key"),
    terminal,
  ).action(async (options: ServiceOptions & { name?: string }) => createKey(terminal, options));
  addServiceOptions(
    keys
      .command("delete")
      .description("revoke a Key")
      .argument("<sid>", "SID of the Key")
      .option("--force", "also revoke the Key of --username"),
    terminal,
  ).action(async (sid: string, options: ServiceOptions & { force?: boolean }) =>
    deleteKey(terminal, sid, options),
  );
}

async function listKeys(terminal: Terminal, options: ServiceOptions): Promise<void> {
  const client = await connectToService(terminal, options);
  const all = await collect(client.keys.list({ signal: terminal.signal }));
  if (options.json) return printJson(terminal, all);
  printTable(
    terminal,
    ["SID", "CREATED", "NAME"],
    all.map(({ sid, date_created, friendly_name }) => [sid, date_created, friendly_name]),
  );
}

async function createKey(
  terminal: Terminal,
  options: ServiceOptions & { name?: string },
): Promise<void> {
  const client = await connectToService(terminal, options);
  const key = await client.keys.create(
    { friendly_name: options.name },
    { signal: terminal.signal },
  );
  if (options.json) return printJson(terminal, key);
  print(terminal, `${key.sid}\n${key.secret}`);
  terminal.stderr.write("The secret is shown only once: store it now.\n");
}

async function deleteKey(
  terminal: Terminal,
  sid: string,
  options: ServiceOptions & { force?: boolean },
): Promise<void> {
  const client = await connectToService(terminal, options);
  await client.keys.delete(sid, { force: options.force, signal: terminal.signal });
  if (options.json) return printJson(terminal, { sid, deleted: true });
  print(terminal, `deleted ${sid}`);
}
