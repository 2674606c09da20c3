import { execFile } from "node:child_process";

/** How a command is run. */
export interface CommandOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/**
 * Runs a command to its end; a command that hangs for five minutes fails.
 *
 * @returns its stdout.
 * @throws Error with all its output.
 */
export function runCommand(
  file: string,
  args: string[],
  { cwd, env = process.env }: CommandOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd, env, timeout: 300_000 }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const why =
        error.killed === true ? "took too long" : `ended with ${error.code ?? error.signal}`;
      reject(new Error(`${[file, ...args].join(" ")}\n${why}\n${stdout}${stderr}`.trimEnd()));
    });
  });
}
