#!/usr/bin/env node
import { runProgram } from "./program";

const interrupted = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) {
  process.once(name, () => interrupted.abort(name));
}

const { env, stdin, stdout, stderr } = process;
const terminal = { env, stdin, stdout, stderr, signal: interrupted.signal, hasFailed: false };

// The program sets another code when it ends: a process that ends before that has failed.
process.exitCode = 1;

stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  // A reader may close the pipe early (`push-webhooks keys list | head -1`): that is no failure,
  // except for `keys create`, whose output holds the only copy of a secret.
  if (code === "EPIPE" && process.argv[3] !== "create") process.exit(0);
  stderr.write(`push-webhooks: the output could not be written: ${message}\n`);
  process.exit(1);
});

void main();

async function main(): Promise<void> {
  process.exitCode = await runProgram(process.argv.slice(2), terminal);
}
