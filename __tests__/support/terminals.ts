import { PassThrough } from "node:stream";
import { runProgram } from "../../lib/cli/program";
import type { Terminal } from "../../lib/cli/terminal";

/** A terminal that records its output; a pipe, unless `isTTY`. */
export function createTerminal(env: NodeJS.ProcessEnv = {}, { isTTY = false } = {}) {
  const written = { stdout: "", stderr: "" };
  const input = new PassThrough();
  const interruption = new AbortController();
  const stream = (name: keyof typeof written) =>
    Object.assign(new PassThrough(), { isTTY }).on(
      "data",
      (chunk: Buffer) => void (written[name] += chunk.toString()),
    );
  const terminal = {
    env,
    stdin: Object.assign(input, { isTTY, setRawMode: () => input }),
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    signal: interruption.signal,
    hasFailed: false,
  } as unknown as Terminal;
  return { terminal, written, input, interrupt: () => interruption.abort() };
}

/** Runs the program once, in a pipe. */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { terminal, written } = createTerminal(env);
  const code = await runProgram(args, terminal);
  return { code, ...written };
}
