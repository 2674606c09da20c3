import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { SIGNATURE_HEADERS } from "../core/door";
import { UsageError } from "./arguments";
import type { Terminal } from "./terminal";

/** Of each option of the service: flags, variable, description. */
export const SERVICE_SETTINGS = [
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

/** A variable of the environment that the commands read. */
export type Variable =
  | (typeof SERVICE_SETTINGS)[number][1]
  | "PUSH_ADMIN_HEADER"
  | "PUSH_AUTH_TOKEN"
  | "PUSH_KEY_SECRET"
  | "PUSH_QUEUE"
  | "PUSH_SIGNATURE_HEADER";

/** Reads an environment variable; "" when it is not set. */
export function readVariable({ env }: Terminal, variable: Variable): string {
  return env[variable] ?? "";
}

/** Adds the option for the header that a command signs with, or the variable of the environment. */
export function addSignatureHeader(command: Command, terminal: Terminal): Command {
  const name = readVariable(terminal, "PUSH_SIGNATURE_HEADER") || SIGNATURE_HEADERS[0];
  const what = "name of the signature header, or $PUSH_SIGNATURE_HEADER";
  return command.option("--signature-header <name>", what, name);
}

/** Ctrl-C at a prompt. */
export class Interruption extends Error {}

/**
 * Reads a secret from an environment variable, or from a prompt that does not show it. A secret is
 * never an argument: the list of processes and the shell's history show arguments.
 *
 * @throws UsageError when the variable is not set and stdin is not a terminal.
 */
export async function readSecret(terminal: Terminal, variable: Variable): Promise<string> {
  const value = readVariable(terminal, variable);
  if (value !== "") return value;
  if (!terminal.stdin.isTTY) {
    throw new UsageError(`Set the environment variable ${variable}.`);
  }
  return promptHidden(terminal, `${variable}: `);
}

async function promptHidden({ stdin, stderr, signal }: Terminal, prompt: string): Promise<string> {
  stderr.write(prompt);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silence, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      const interrupt = () => reject(new Interruption());
      lines.once("SIGINT", interrupt);
      lines.once("close", () => reject(new UsageError("The prompt was closed without an input.")));
      signal.addEventListener("abort", interrupt, { once: true });
      if (signal.aborted) interrupt();
    });
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
