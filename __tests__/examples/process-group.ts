import { spawn } from "node:child_process";
import { ROOT } from "../support/docs";

/**
 * Starts a command of this repository in a process group of its own: a terminal sends Ctrl-C to the
 * whole group. Resolves once the command has printed a text.
 */
export async function startGroup(
  [command = "", ...args]: readonly string[],
  text: string,
  env: NodeJS.ProcessEnv = {},
) {
  const options = { cwd: ROOT, env: { ...process.env, ...env }, detached: true };
  const child = spawn(command, args, options);
  const group = -(child.pid ?? 0);
  const printed = { stdout: "", stderr: "" };
  child.stderr.on("data", (chunk: Buffer) => void (printed.stderr += chunk.toString()));
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    printed.stdout += String(chunk);
    if (printed.stdout.includes(text)) break;
  }
  child.stdout.on("data", (chunk: Buffer) => void (printed.stdout += chunk.toString()));
  const kill = (signal: NodeJS.Signals) => process.kill(group, signal);

  function isRunning(): boolean {
    try {
      return process.kill(group, 0);
    } catch {
      return false;
    }
  }

  return { child, printed, kill, isRunning };
}

export type ProcessGroup = Awaited<ReturnType<typeof startGroup>>;
