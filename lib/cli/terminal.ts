import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** Where a command reads and writes. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Aborted by Ctrl-C, and when the process is told to end. */
  signal: AbortSignal;
  /** Set by a command that did not get what it wanted. */
  hasFailed: boolean;
}

const COLOURS = { red: 31, green: 32, yellow: 33, dim: 2 } as const;

/** Colours a text on a terminal; elsewhere, and with NO_COLOR, it stays plain. */
export function paint(
  { stdout, env }: Terminal,
  colour: keyof typeof COLOURS,
  text: string,
): string {
  if (!stdout.isTTY || (env.NO_COLOR ?? "") !== "") return text;
  return `\u001B[${COLOURS[colour]}m${text}\u001B[0m`;
}

/** Writes a line for the user. */
export function print({ stdout }: Terminal, line: string): void {
  stdout.write(`${line}\n`);
}

/** Writes one JSON document. */
export function printJson(terminal: Terminal, value: unknown): void {
  print(terminal, JSON.stringify(value, null, 2));
}

/** A text of others, without the control characters that a terminal would obey. */
export function withoutControls(text: unknown): string {
  return String(text).replaceAll(/(?!\n)\p{C}/gu, "?");
}

/** Writes rows in columns on a terminal, with tabs between the cells elsewhere. */
export function printTable(terminal: Terminal, header: string[], cells: unknown[][]): void {
  const rows = cells.map((row) => row.map((cell) => withoutControls(cell).replaceAll("\n", "?")));
  if (!terminal.stdout.isTTY) {
    for (const row of [header, ...rows]) print(terminal, row.join("\t"));
    return;
  }
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const align = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  print(terminal, paint(terminal, "dim", align(header)));
  for (const row of rows) print(terminal, align(row));
}

/**
 * A secret from the environment, or typed at a prompt that does not show it. It is never an
 * argument: those are seen in the list of processes and kept in the shell's history.
 *
 * @throws UsageError where there is neither.
 */
export async function readSecret(terminal: Terminal, variable: string): Promise<string> {
  const value = terminal.env[variable];
  if (value !== undefined && value !== "") return value;
  if (!terminal.stdin.isTTY) {
    throw new UsageError(`Set the environment variable ${variable}.`);
  }
  return askHidden(terminal, `${variable}: `);
}

/** What the user can put right: it ends the program with the status for wrong usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Ctrl-C at a prompt. */
export class Interruption extends Error {}

async function askHidden({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  stderr.write(question);
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silence, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      const interrupt = () => reject(new Interruption());
      lines.once("SIGINT", interrupt);
      lines.once("close", () => reject(new UsageError("Nothing was typed.")));
      signal.addEventListener("abort", interrupt, { once: true });
    });
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
