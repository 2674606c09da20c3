import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

export const TYPESCRIPT = ["--require", join(__dirname, "typescript.cjs")];
/** The same for NODE_OPTIONS, which needs quotes around a path. */
export const TYPESCRIPT_OPTIONS = TYPESCRIPT.map((word) => JSON.stringify(word)).join(" ");

export function createChildProcesses(script: string, options: ForkOptions = {}) {
  const running = new Set<ChildProcess>();

  async function kill(child: ChildProcess): Promise<void> {
    running.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  return {
    /**
     * Starts a process and resolves with its first message.
     *
     * @throws Error when it ends before that.
     */
    async start(args: readonly string[], onMessage: (message: string) => void) {
      const child = fork(script, args, {
        execArgv: TYPESCRIPT,
        ...options,
        stdio: ["ignore", "ignore", "pipe", "ipc"],
      });
      running.add(child);
      const errors = text(child.stderr as Readable);
      child.on("message", (message) => onMessage(message as string));
      const started = once(child, "message").then(() => true);
      if (!(await Promise.race([started, once(child, "exit").then(() => false)])))
        throw new Error(`The process ended before its first message: ${await errors}`);
      return child;
    },
    kill,
    killAll: () => Promise.all(Array.from(running, kill)),
  };
}
