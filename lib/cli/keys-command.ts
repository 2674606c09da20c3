import type { Command } from "commander";
import { addServiceAction, collect, type ServiceOptions } from "./service-connection";
import { print, printJson, printTable, type Terminal } from "./terminal";

interface KeyOptions extends ServiceOptions {
  name?: string;
  force?: boolean;
}

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

  addServiceAction(list, terminal, async (client) => {
    const all = await collect(client.keys.list({ signal }));
    if (list.opts<KeyOptions>().json) return printJson(terminal, all);
    const rows = all.map((key) => [key.sid, key.date_created, key.friendly_name]);
    printTable(terminal, ["SID", "CREATED", "NAME"], rows);
  });

  addServiceAction(create, terminal, async (client) => {
    const { name, json } = create.opts<KeyOptions>();
    const key = await client.keys.create({ friendly_name: name }, { signal });
    if (json) return printJson(terminal, key);
    print(terminal, `${key.sid}\n${key.secret}`);
    terminal.stderr.write("The secret is shown only once: store it now.\n");
  });

  addServiceAction(remove, terminal, async (client, sid) => {
    const { force, json } = remove.opts<KeyOptions>();
    await client.keys.delete(sid, { force, signal });
    if (json) return printJson(terminal, { sid, deleted: true });
    print(terminal, `deleted ${sid}`);
  });
}
