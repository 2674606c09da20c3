import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { TYPESCRIPT } from "../support/child-processes";

const root = join(__dirname, "..", "..");
const start = (...args: string[]) =>
  spawn(process.execPath, [...TYPESCRIPT, "lib/cli/main.ts", ...args], { cwd: root });

describe("the process", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "ends the emulator with %s and exit code %i",
    async (signal, code) => {
      const emulator = start("emulator", "--port", "0");
      let errors = "";
      emulator.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
      for await (const chunk of emulator.stdout) {
        if (String(chunk).includes("Create a factor")) emulator.kill(signal);
      }
      expect([await once(emulator, "exit"), errors]).toEqual([[code, null], ""]);
    },
    20_000,
  );

  it("succeeds when the reader closes the pipe early", async () => {
    const help = start("--help");
    help.stdout.destroy();
    let errors = "";
    help.stderr.on("data", (chunk: Buffer) => void (errors += chunk.toString()));
    expect([await once(help, "exit"), errors]).toEqual([[0, null], ""]);
  }, 20_000);

  it("fails when the output cannot be written", async () => {
    const full = openSync("/dev/full", "w");
    const run = spawn(process.execPath, [...TYPESCRIPT, "lib/cli/main.ts", "--help"], {
      cwd: root,
      stdio: ["ignore", full, "pipe"],
    });
    const errors = await text(run.stderr as Readable);
    expect(errors).toMatch(/^push-webhooks: the output could not be written: /);
    expect(run.exitCode ?? (await once(run, "exit"))[0]).toBe(1);
    closeSync(full);
  }, 20_000);
});
