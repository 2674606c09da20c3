import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "./terminal";
import { UsageError } from "./usage-error";

/** Ctrl-C at a prompt. */
export class Interruption extends Error {}

/**
 * Reads a secret from an environment variable, or from a prompt that does not show it. A secret is
 * never an argument: the list of processes and the shell's history show arguments.
 *
 * @throws UsageError when the variable is not set and stdin is not a terminal.
 */
export async function readSecret(terminal: Terminal, variable: string): Promise<string> {
  const value = terminal.env[variable];
  if (value !== undefined && value !== "") return value;
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
    });
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
