import { toAsciiJson } from "../kit/text";

/** What a command uses of its process, and its state. */
export interface Terminal {
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Aborts on a signal, such as SIGINT (Ctrl-C); its reason is the name of the signal. */
  signal: AbortSignal;
  /** Set by a command that failed or found a problem: the program ends with exit code 1. */
  hasFailed: boolean;
}

const COLOURS = { red: 31, green: 32, yellow: 33, dim: 2 } as const;

/** Control characters, marks of direction and separators, but no line break and no tab. */
const CONTROLS = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}]/gu;

/** Writes lines to stdout. Each control character becomes `?`: a text may come from elsewhere. */
export function print({ stdout }: Terminal, lines: string): void {
  stdout.write(`${withoutControls(lines)}\n`);
}

/** Writes lines to stderr, with `?` for each control character. */
export function printNote({ stderr }: Terminal, lines: string): void {
  stderr.write(`${withoutControls(lines)}\n`);
}

/** Writes lines to stdout; on a terminal, unless NO_COLOR is set, their start has a colour. */
export function printPainted(
  terminal: Terminal,
  colour: keyof typeof COLOURS,
  start: string,
  rest = "",
): void {
  const { stdout, env } = terminal;
  const isPlain = !stdout.isTTY || (env.NO_COLOR ?? "") !== "";
  const text = withoutControls(start);
  stdout.write(isPlain ? text : `\u001B[${COLOURS[colour]}m${text}\u001B[0m`);
  print(terminal, rest);
}

/** Writes one JSON document to stdout. */
export function printJson(terminal: Terminal, value: unknown, indent = 2): void {
  const json = JSON.stringify(value, null, indent);
  print(
    terminal,
    json.replaceAll(CONTROLS, (text) => toAsciiJson(text).slice(1, -1)),
  );
}

function withoutControls(text: unknown): string {
  return String(text).replaceAll(CONTROLS, "?");
}

/** Writes rows to stdout: in aligned columns on a terminal, with tabs in a pipe. */
export function printTable(terminal: Terminal, header: string[], cells: unknown[][]): void {
  const shown = cells.map((row) =>
    row.map((cell) => withoutControls(cell).replaceAll(/[\n\t]/g, "?")),
  );
  const rows = [header, ...shown];
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const aligned = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    const line = terminal.stdout.isTTY ? aligned.join("  ").trimEnd() : row.join("\t");
    if (row === header) printPainted(terminal, "dim", line);
    else print(terminal, line);
  }
}
