import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { closeSync, openSync } from "node:fs";
import { TYPESCRIPT } from "../support/child-processes";
import { ROOT } from "../support/docs";
import { envOf, startEmulator, stopEmulators } from "../support/emulators";
import { itNeeds } from "../support/platform";

const start = (args: string[], stdout: "pipe" | number = "pipe", env = {}) => {
  const run = spawn(process.execPath, [...TYPESCRIPT, "lib/cli/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", stdout, "pipe"],
  });
  const ended = once(run, "exit");
  return { run, stdout: run.stdout as Readable, ended, errors: text(run.stderr as Readable) };
};

itNeeds("signals").each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 143],
] as const)("the process ends the emulator with %s and exit code %i", async (signal, code) => {
  const { run, stdout, ended, errors } = start(["emulator", "--port", "0"]);
  for await (const chunk of stdout) {
    if (String(chunk).includes("Create a factor")) run.kill(signal);
  }
  expect({ ended: await ended, errors: await errors }).toEqual({ ended: [code, null], errors: "" });
});

it("the process succeeds when the reader closes the pipe early", async () => {
  const { stdout, ended, errors } = start(["--help"]);
  stdout.destroy();
  expect({ ended: await ended, errors: await errors }).toEqual({ ended: [0, null], errors: "" });
});

it("the process fails when the reader closes the pipe before it has a new secret", async () => {
  const emulator = await startEmulator();
  const { stdout, ended, errors } = start(["keys", "create"], "pipe", envOf(emulator));
  stdout.destroy();
  expect(await errors).toMatch(/could not be written: /);
  expect(await ended).toEqual([1, null]);
  await stopEmulators();
});

itNeeds("/dev/full")("the process fails when the output cannot be written", async () => {
  const full = openSync("/dev/full", "w");
  const { ended, errors } = start(["--help"], full);
  expect(await errors).toMatch(/^push-webhooks: the output could not be written: /);
  expect(await ended).toEqual([1, null]);
  closeSync(full);
});
