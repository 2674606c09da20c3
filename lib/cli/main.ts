#!/usr/bin/env node
import type * as program from "./program";
import type { Terminal } from "./terminal";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());

const { env, stdin, stdout, stderr } = process;
const terminal: Terminal = {
  env,
  stdin,
  stdout,
  stderr,
  signal: interrupted.signal,
  hasFailed: false,
};

// Until it is known better: an early end of the process is a failure.
process.exitCode = 1;

stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  // Whoever reads the output may have enough of it: push-webhooks keys list | head -1
  if (code === "EPIPE" && process.argv[3] !== "create") process.exit(0);
  stderr.write(`push-webhooks: the output could not be written: ${message}\n`);
  process.exit(1);
});

void main();

async function main(): Promise<void> {
  try {
    require.resolve("commander");
  } catch {
    // It is an optional peer: who uses the library alone does not need it.
    stderr.write("push-webhooks needs the package commander: npm install commander@14\n");
    return;
  }
  const { runProgram } = require("./program") as typeof program;
  process.exitCode = await runProgram(process.argv.slice(2), terminal);
}
