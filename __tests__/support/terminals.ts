import { PassThrough } from "node:stream";
import { runProgram } from "../../lib/cli/program";
import type { Terminal } from "../../lib/cli/terminal";
import { until } from "./waiting";

/** Starts the program in a terminal that records its output; a pipe, unless `isTTY`. */
export function startCommand(args: string[], env: NodeJS.ProcessEnv = {}, { isTTY = false } = {}) {
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
  const run = runProgram(args, terminal);
  const waitFor = (pattern: RegExp, name: keyof typeof written = "stdout") =>
    until(() => pattern.test(written[name]));
  return { run, written, input, interrupt: () => interruption.abort(), waitFor };
}

export async function runCommand(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { run, written } = startCommand(args, env);
  return { code: await run, ...written };
}
