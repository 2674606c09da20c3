/** Loading an entry only defines: Workers forbid random values, timers and connections meanwhile. */
import crypto from "node:crypto";
import dgram from "node:dgram";
import fs from "node:fs";
import net from "node:net";
import timers from "node:timers";
import { join, sep } from "node:path";
import { exports as entries } from "../package.json";

const LIB = join(__dirname, "..", "lib") + sep;

const WATCHED: [owner: object, methods: string[]][] = [
  [Math, ["random"]],
  [globalThis, ["setTimeout", "setInterval", "setImmediate", "fetch"]],
  [globalThis.crypto, ["randomUUID", "getRandomValues"]],
  [crypto, ["randomUUID", "randomBytes", "randomInt", "randomFillSync"]],
  [timers, ["setTimeout", "setInterval", "setImmediate"]],
  [fs, ["readFileSync", "openSync", "readdirSync", "existsSync", "statSync"]],
  [net, ["connect", "createConnection"]],
  [dgram, ["createSocket"]],
];
type Call = (...args: unknown[]) => unknown;
const ORIGINALS = WATCHED.flatMap(([owner, methods]) =>
  methods.map((method) => [owner, method, Reflect.get(owner, method) as Call] as const),
);
const names = Object.keys(entries).filter((name) => name !== "./package.json");

afterEach(() => {
  for (const [owner, method, original] of ORIGINALS) Reflect.set(owner, method, original);
});

it.each(names)("%s: its own files call none of them", (name) => {
  const calls: string[] = [];
  for (const [owner, method, original] of ORIGINALS) {
    // Not a mock of Jest, whose own frames would hide the caller.
    Reflect.set(owner, method, function (this: unknown, ...args: unknown[]) {
      // The file that calls, not one that loads it: Jest and other packages read files.
      const caller = new Error().stack?.split("\n")[2] ?? "";
      if (caller.includes(LIB)) calls.push(`${method} ${caller.trim()}`);
      return Reflect.apply(original, this, args);
    });
  }
  jest.isolateModules(() => {
    jest.requireActual(name.replace(".", "express-push-verification"));
  });
  expect(calls).toEqual([]);
});
