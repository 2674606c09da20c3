"use strict";
/**
 * The heap that one request takes, without a clock: run with --expose-gc, and with a young generation
 * that holds all that is measured at once, by --min-semi-space-size=64.
 *
 * Ends with 1 when the receiver takes more than its figure and 3 %. With the argument "default" it
 * measures the receiver with its defaults only, else every contestant, each in a process of its own:
 * what V8 has learned from one would count for the next. With "allocators" it lists those of each.
 */
const { createHook } = require("node:async_hooks");
const { spawnSync } = require("node:child_process");
const { Session } = require("node:inspector");
const { pushWebhooks, sign } = require("../../dist");
const { allByHand, readOnly } = require("./by-hand.cjs");
const { makeExchange } = require("./exchange.cjs");
const { AUTH_TOKEN, PUBLIC_URL, signRequest, WRONG_SIGNATURE } = require("./requests.cjs");
const { randomBytes, randomUUID } = require("node:crypto");

/** Bytes of the receiver with its defaults, by the version of Node.js. */
const FIGURES = { 20: 22_900, 22: 21_400, 24: 20_900, 26: 22_900 };
const GROWTH = 1.03;
/** V8 has compiled nearly all of the request path then. */
const WARM_UP_REQUESTS = 12_000;
const REQUESTS = 400;
const ROUNDS = 9;
const ALLOCATORS = 25;
/** Those of `handle`, of `run`, and of awaiting them. */
const PROMISES_OF_LOOP = 3;

const settings = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

function makeReceiver(options = {}) {
  const push = pushWebhooks({ ...settings, ...options });
  push.on("challenge.approved", () => {});
  push.onRejected(() => {});
  return push;
}

const template = signRequest().body;

/** A request with a new uuid and a new challenge. */
function makeRequest() {
  const body = template
    .replace(/uuid=[^&]+/, `uuid=${randomUUID()}`)
    .replace(/challenge_sid=[^&]+/, `challenge_sid=YC${randomBytes(16).toString("hex")}`);
  const params = new URLSearchParams(body);
  const signature = sign({ authToken: AUTH_TOKEN, url: PUBLIC_URL, params });
  return { signature, bytes: Buffer.from(body) };
}

/** Prepares what is not measured: the objects of node:http, and a promise of the response. */
function prepareExchange(request) {
  const { req, res } = makeExchange(request);
  const ended = new Promise((resolve) => {
    const { end } = res;
    res.end = (chunk) => resolve(end.call(res, chunk));
  });
  return { req, res, ended };
}

/** Handles one prepared request; its response must have this status. */
async function handle(listener, { req, res, ended }, status) {
  void listener(req, res);
  await ended;
  if (res.statusCode !== status) throw new Error(`The response was ${res.statusCode}.`);
}

const overHttp = (listener, make = makeRequest, status = 200) => ({
  prepare: () => prepareExchange(make()),
  run: (exchange) => handle(listener, exchange, status),
});

function overFetch(push) {
  return {
    prepare() {
      const { signature, bytes } = makeRequest();
      const headers = {
        "content-type": "application/x-www-form-urlencoded",
        "x-service-signature": signature,
      };
      return new Request(PUBLIC_URL, { method: "POST", headers, body: bytes });
    },
    async run(request) {
      const { status } = await push.fetch(request);
      if (status !== 200) throw new Error(`The response was ${status}.`);
    },
  };
}

/** Accepts a request once, and makes duplicates of it. */
async function makeDuplicates() {
  const push = makeReceiver();
  const request = makeRequest();
  await handle(push, prepareExchange(request), 200);
  return overHttp(push, () => request);
}

const CONTESTANTS = {
  "body read, 200": () => overHttp(readOnly()),
  "the same work by hand": () => overHttp(allByHand(settings, () => {})),
  "the receiver, default": () => overHttp(makeReceiver()),
  "the receiver, dedupe: false": () => overHttp(makeReceiver({ dedupe: false })),
  "the receiver, push.fetch": () => overFetch(makeReceiver()),
  "the receiver, a duplicate": makeDuplicates,
  "the receiver, a queued event": () => overHttp(makeReceiver({ queue: makeQueue() })),
  "the receiver, a wrong signature": () =>
    overHttp(makeReceiver(), () => ({ ...makeRequest(), signature: WRONG_SIGNATURE }), 403),
};
const DEFAULT = "the receiver, default";

/** A queue whose store needs no time. */
function makeQueue() {
  const outcomes = { record() {}, wait: () => new Promise(() => {}) };
  return { outcomes, store: async () => "new" };
}

async function runAll({ run }, prepared) {
  for (const one of prepared) await run(one);
}

const prepareAll = ({ prepare }, count) => Array.from({ length: count }, prepare);

function readHeap() {
  return process.memoryUsage().heapUsed;
}

/** The least of some rounds: code that V8 has not compiled takes more. */
async function measure(contestant) {
  await runAll(contestant, prepareAll(contestant, WARM_UP_REQUESTS));
  let least = { bytes: Infinity, kept: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const figures = await measureRound(contestant);
    if (figures.bytes < least.bytes) least = figures;
  }
  return { ...least, promises: await countPromises(contestant) };
}

async function measureRound(contestant) {
  const prepared = prepareAll(contestant, REQUESTS);
  globalThis.gc();
  const before = readHeap();
  await runAll(contestant, prepared);
  const after = readHeap();
  globalThis.gc();
  const kept = readHeap();
  return { bytes: (after - before) / REQUESTS, kept: (kept - before) / REQUESTS };
}

async function countPromises(contestant) {
  const prepared = prepareAll(contestant, REQUESTS);
  let count = 0;
  const hook = createHook({ init: (_id, type) => void (count += type === "PROMISE" ? 1 : 0) });
  hook.enable();
  await runAll(contestant, prepared);
  hook.disable();
  return count / REQUESTS - PROMISES_OF_LOOP;
}

/** Lists the functions that allocate most, by V8's sampling profiler. */
async function listAllocators(contestant) {
  const session = new Session();
  session.connect();
  const post = (method, params) =>
    new Promise((resolve, reject) => {
      session.post(method, params, (error, result) => (error ? reject(error) : resolve(result)));
    });
  const prepared = prepareAll(contestant, 10 * REQUESTS);
  globalThis.gc();
  const sampling = {
    samplingInterval: 512,
    includeObjectsCollectedByMinorGC: true,
    includeObjectsCollectedByMajorGC: true,
  };
  await post("HeapProfiler.startSampling", sampling);
  await runAll(contestant, prepared);
  const { profile } = await post("HeapProfiler.stopSampling");
  session.disconnect();
  const bytes = new Map();
  const visit = ({ callFrame, selfSize, children }, caller) => {
    const { url, functionName, lineNumber } = callFrame;
    const file = url.replace(/.*\/dist\//, "").replace(/^file:.*\//, "");
    const name = functionName === "" ? "(anonymous)" : functionName;
    // A function of the language has no file.
    const place = url === "" ? `${name} in ${caller}` : `${name} ${file}:${lineNumber + 1}`;
    bytes.set(place, (bytes.get(place) ?? 0) + selfSize);
    for (const child of children) visit(child, place);
  };
  visit(profile.head, "");
  return [...bytes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, ALLOCATORS)
    .map(([place, sum]) => [place, sum / prepared.length]);
}

const show = (figure, width = 8) => figure.toFixed(0).padStart(width);

async function printAllocators(name) {
  console.log(`\nThe largest allocators of ${name}, in bytes a request`);
  const contestant = await CONTESTANTS[name]();
  await runAll(contestant, prepareAll(contestant, WARM_UP_REQUESTS));
  for (const [place, bytes] of await listAllocators(contestant)) {
    console.log(`${show(bytes)}  ${place}`);
  }
}

async function printFigures(name) {
  const { bytes, kept, promises } = await measure(await CONTESTANTS[name]());
  console.log(`${show(bytes)}${show(kept)}${promises.toFixed(1).padStart(10)}  ${name}`);
  const figure = FIGURES[process.versions.node.split(".", 1)[0]];
  if (name !== DEFAULT || !(bytes > figure * GROWTH)) return;
  console.log(`\nThe receiver took ${figure} bytes a request: this is more than 3 % above.`);
  process.exitCode = 1;
}

/** Runs this file again for one contestant. */
function runAlone(name, what) {
  const args = [...process.execArgv, __filename, what, name];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

const PRINTS = { figures: printFigures, allocators: printAllocators };
const HEAD = "   bytes    kept  promises";

async function allocation([what = "all", name]) {
  if (name !== undefined) return PRINTS[what](name);
  if (what !== "allocators") console.log(HEAD);
  if (what === "default") return printFigures(DEFAULT);
  const names = Object.keys(CONTESTANTS);
  if (what === "all") for (const one of names) runAlone(one, "figures");
  for (const one of what === "all" ? [DEFAULT] : names) runAlone(one, "allocators");
}

void allocation(process.argv.slice(2));
