/** Loading an entry only defines: Workers forbid random values, timers and connections meanwhile. */
import crypto from "node:crypto";
import dgram from "node:dgram";
import fs from "node:fs";
import net from "node:net";
import timers from "node:timers";
import { join, sep } from "node:path";
import { exports as entries } from "../package.json";

const LIB = join(__dirname, "..", "lib") + sep;

const WATCHED: [name: string, owner: object, methods: string[]][] = [
  ["Math", Math, ["random"]],
  ["global", globalThis, ["setTimeout", "setInterval", "setImmediate", "fetch"]],
  ["global.crypto", globalThis.crypto, ["randomUUID", "getRandomValues"]],
  ["node:crypto", crypto, ["randomUUID", "randomBytes", "randomInt", "randomFillSync"]],
  ["node:timers", timers, ["setTimeout", "setInterval", "setImmediate"]],
  ["node:fs", fs, ["readFileSync", "openSync", "readdirSync", "existsSync", "statSync"]],
  ["node:net", net, ["connect", "createConnection"]],
  ["node:dgram", dgram, ["createSocket"]],
];
const names = Object.keys(entries).filter((name) => name !== "./package.json");

const restores: (() => unknown)[] = [];
afterEach(() => {
  for (const restore of restores.splice(0)) restore();
});

it.each(names)("%s: its own files call none of them", (name) => {
  const calls: string[] = [];
  for (const [what, owner, methods] of WATCHED) {
    for (const method of methods) {
      const original = Reflect.get(owner, method) as (...args: unknown[]) => unknown;
      restores.push(() => Reflect.set(owner, method, original));
      // Not a mock of Jest, whose own frames would hide the caller.
      Reflect.set(owner, method, function (this: unknown, ...args: unknown[]) {
        // The file that calls, not one that loads it: Jest and other packages read files.
        const caller = new Error().stack?.split("\n")[2] ?? "";
        if (caller.includes(LIB)) calls.push(`${what}.${method} ${caller.trim()}`);
        return Reflect.apply(original, this, args);
      });
    }
  }
  jest.isolateModules(() => {
    jest.requireActual(name.replace(".", "express-push-verification"));
  });
  expect(calls).toEqual([]);
});
