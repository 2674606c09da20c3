import { execFile } from "node:child_process";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sqliteQueue } from "express-push-verification/durable";
import { loadEngine } from "../../lib/durable/packages";
import { TYPESCRIPT } from "../support/child-processes";

const root = join(__dirname, "..", "..");
const itWithoutSqlite = isBuiltin("node:sqlite") ? it.skip : it;

/** Runs a script in which the optional packages are not installed. */
async function runWithout(script: string): Promise<string> {
  const hide = `
    const { Module } = require("node:module");
    const resolve = Module._resolveFilename;
    Module._resolveFilename = function (name, ...others) {
      if (!/^(bullmq|ioredis|pg)$/.test(name)) return resolve.call(this, name, ...others);
      throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
    };
    const durable = require("./lib/durable/index.ts");`;
  const args = [...TYPESCRIPT, "-e", hide + script];
  return (await promisify(execFile)(process.execPath, args, { cwd: root })).stdout;
}

it("loads the packages of an engine on use, and names the line that installs them", async () => {
  const output = await runWithout(`
    console.log(typeof durable.sqliteQueue);
    for (const [name, connection] of [["redisQueue", "redis://127.0.0.1"], ["postgresQueue", "postgres://127.0.0.1/app"]])
      try { durable[name]({ name: "q", connection }) }
      catch (error) { console.log(error.message) }`);
  expect(output).toMatch(/^function\n.*npm install bullmq ioredis\n.*npm install pg$/m);
});

it("names the version of a package that an engine needs", () => {
  const older = { bullmq: "999.0.0" };
  expect(() => loadEngine(() => 1, "redisQueue", older)).toThrow(
    /bullmq 999\.0\.0 or newer, not 6\./,
  );
  expect(loadEngine(() => 1, "redisQueue", { bullmq: "5.17.1", ioredis: "5.4.1" })).toBe(1);
});

itWithoutSqlite("rejects a Node.js without node:sqlite, and names the version that has it", () => {
  const create = () => sqliteQueue({ name: "q", file: join(tmpdir(), "push.db") });
  expect(create).toThrow(TypeError);
  expect(create).toThrow("22.13");
});
