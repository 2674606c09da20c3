import { execFileSync } from "node:child_process";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { sqliteQueue } from "express-push-verification/durable";
import { loadEngine } from "../../lib/durable/packages";
import { TYPESCRIPT } from "../support/child-processes";

/** The optional packages are not installed. */
const SCRIPT = `
  const { Module } = require("node:module");
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, ...others) {
    if (!/^(bullmq|ioredis|pg)$/.test(name)) return resolve.call(this, name, ...others);
    throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
  };
  const { redisQueue, postgresQueue } = require("./lib/durable/index.ts");
  for (const [create, connection] of [[redisQueue, "redis://127.0.0.1"], [postgresQueue, "postgres://127.0.0.1/app"]])
    try { create({ name: "q", connection }) }
    catch (error) { console.log(error.message) }`;

it("loads the packages of an engine on use, and names the line that installs them", () => {
  const options = { cwd: join(__dirname, "..", ".."), encoding: "utf8" } as const;
  const output = execFileSync(process.execPath, [...TYPESCRIPT, "-e", SCRIPT], options);
  expect(output).toMatch(/^.*npm install bullmq ioredis\n.*npm install pg$/m);
});

it("names the version of a package that an engine needs", () => {
  const load = (bullmq: string) => loadEngine(() => 1, "redisQueue", { bullmq, ioredis: "5.4.1" });
  expect(() => load("999.0.0")).toThrow(/bullmq 999\.0\.0 or newer, not 6\./);
  expect(load("5.17.1")).toBe(1);
});

(isBuiltin("node:sqlite") ? it.skip : it)(
  "rejects a Node.js without node:sqlite, and names the version that has it",
  () => {
    const create = () => sqliteQueue({ name: "q", file: "push.db" });
    expect(create).toThrow(TypeError);
    expect(create).toThrow("22.13");
  },
);
