import { Option, type Command } from "commander";
import { ApiError, createAdminClient, type AdminClient } from "../admin";
import { readSecret, type Terminal } from "./terminal";
import { UsageError } from "./arguments";

/** Options of each command that uses the service's APIs. */
export interface ServiceOptions {
  accountUrl?: string;
  verifyUrl?: string;
  accountSid?: string;
  serviceSid?: string;
  username?: string;
  json?: boolean;
}

const SETTINGS = [
  ["--account-url <url>", "PUSH_ACCOUNT_URL", "base URL of the account API"],
  ["--verify-url <url>", "PUSH_VERIFY_URL", "base URL of the verification API"],
  ["--account-sid <sid>", "PUSH_ACCOUNT_SID", "SID of the account"],
  ["--service-sid <sid>", "PUSH_SERVICE_SID", "SID of the verification service"],
  [
    "--username <sid>",
    "PUSH_KEY_SID",
    "SID of a Key with its secret in $PUSH_KEY_SECRET, instead of the account with $PUSH_AUTH_TOKEN",
  ],
] as const;

/**
 * Adds the options of the service to a command, each with a variable of the environment, and its
 * action, which receives a client and the argument of the command, or "".
 */
export function addServiceAction(
  command: Command,
  terminal: Terminal,
  run: (client: AdminClient, argument: string) => Promise<void>,
): void {
  for (const [flags, variable, description] of SETTINGS) {
    const option = new Option(flags, `${description}, or $${variable}`);
    // Option.env() would read the environment of the process instead of the terminal's.
    const value = terminal.env[variable] ?? "";
    command.addOption(value === "" ? option : option.default(value, `$${variable}`));
  }
  command.option("--json", "print one JSON document").action(async () => {
    const client = await connectToService(terminal, command.opts<ServiceOptions>());
    try {
      await run(client, command.args[0] ?? "");
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new Error(client.usesKey ? KEY_REJECTED : ACCOUNT_REJECTED, { cause: error });
    }
  });
}

const ACCOUNT_REJECTED =
  "The service rejected the credentials. Set PUSH_AUTH_TOKEN to the auth token of the account of --account-sid or PUSH_ACCOUNT_SID.";
const KEY_REJECTED =
  "The service rejected the credentials. Set PUSH_KEY_SECRET to the secret of the Key of --username or PUSH_KEY_SID; only a Main Key manages Keys.";

/** Creates a client from the options of a command. @throws UsageError for a missing option. */
async function connectToService(terminal: Terminal, options: ServiceOptions) {
  const { accountUrl = "", verifyUrl = "", accountSid = "", serviceSid = "", username } = options;
  const variable = username === undefined ? "PUSH_AUTH_TOKEN" : "PUSH_KEY_SECRET";
  const values = [accountUrl, verifyUrl, accountSid, serviceSid];
  const missing = SETTINGS.filter((_, index) => values[index] === "").map(
    ([flags, name]) => `${flags.replace(/ .*/, "")} or ${name}`,
  );
  // A terminal is asked for the secret.
  if (!terminal.stdin.isTTY && (terminal.env[variable] ?? "") === "") missing.push(variable);
  if (missing.length > 0) throw new UsageError(`Set ${missing.join(", ")}.`);
  const password = await readSecret(terminal, variable);
  return createAdminClient({ accountUrl, verifyUrl, accountSid, serviceSid, username, password });
}

/** Collects the items of a list. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
