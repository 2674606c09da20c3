import { fork, type ChildProcess, type ForkOptions } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The arguments of a Node.js that runs TypeScript. */
export const TYPESCRIPT = ["--require", join(__dirname, "typescript.cjs")];

/** Creates an empty set of processes that run a script in TypeScript. */
export function createChildProcesses(script: string, options: ForkOptions = {}) {
  const running = new Set<ChildProcess>();
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
      let errors = "";
      child.stderr?.on("data", (chunk) => (errors += String(chunk)));
      child.on("message", (message) => onMessage(message as string));
      const ending = new AbortController();
      const { signal } = ending;
      const ended = once(child, "exit", { signal }).then(([code]) => {
        throw new Error(
          `The process ended with ${String(code)} before its first message: ${errors}`,
        );
      });
      ended.catch(() => {});
      await Promise.race([once(child, "message", { signal }), ended]);
      ending.abort();
      return child;
    },
    /** Kills a process and waits for its end. */
    async kill(child: ChildProcess): Promise<void> {
      running.delete(child);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
    /** Kills all that still run. */
    killAll() {
      for (const child of running) child.kill("SIGKILL");
      running.clear();
    },
  };
}
