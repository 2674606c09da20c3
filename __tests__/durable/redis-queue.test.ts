import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { TYPESCRIPT } from "../support/child-processes";
import * as durable from "express-push-verification/durable";

const root = join(__dirname, "..", "..");
/** Runs a script in which the two packages are not installed. */
async function runWithout(script: string): Promise<string> {
  const hide = `
    const { Module } = require("node:module");
    const resolve = Module._resolveFilename;
    Module._resolveFilename = function (name, ...others) {
      if (!/^(bullmq|ioredis)$/.test(name)) return resolve.call(this, name, ...others);
      throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
    };
    const durable = require("./lib/durable/index.ts");`;
  const args = [...TYPESCRIPT, "-e", hide + script];
  return (await promisify(execFile)(process.execPath, args, { cwd: root })).stdout;
}

it("loads bullmq and ioredis on use, and names the line that installs them", async () => {
  const output = await runWithout(`
    console.log(typeof durable.sqliteQueue);
    try { durable.redisQueue({ name: "q", connection: "redis://127.0.0.1" }) }
    catch (error) { console.log(error.message) }`);
  expect(output).toMatch(/^function\n.*npm install bullmq ioredis$/m);
});

it("validates its options", () => {
  const options = { name: "q" } as durable.RedisQueueOptions;
  expect(() => durable.redisQueue(options)).toThrow(TypeError);
});
