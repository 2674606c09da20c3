"use strict";

const { chmodSync, mkdtempSync, readdirSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const timers = require("node:timers");
const promises = require("node:timers/promises");

const { setTimeout: sleep } = promises;
/** How long a closed socket or a killed process may take to end, while this process runs. */
const ENDS_MS = Number(process.env.PUSH_TEST_ENDS_MS ?? 60_000);
/** The same for a timer after its test. */
const TIMERS_MS = Math.min(ENDS_MS, 3_000);
const PAUSE_MS = 20;
/** Files that tools keep for their next process. */
const CACHES = /^(tsx-|node-compile-cache|jest_)/;
const LIB = join(__dirname, "..", "..", "lib");
// The first use of an output opens its pipe.
void [process.stdout, process.stderr];

/**
 * Finds what is left behind: after each test the timers of `lib`, also those that keep no process
 * alive, and after all tests of a file sockets, threads, processes, listeners and temporary files.
 */
exports.Leftovers = class Leftovers {
  #process;
  #folder;
  #outerFolder = process.env.TMPDIR;
  #resources = count(process.getActiveResourcesInfo());
  #listeners;
  /** The timers of a test, and where they were started. */
  #started = new Map();
  #restores;

  constructor(global) {
    this.#process = global.process;
    this.#listeners = countListeners(global.process);
    this.#folder = mkdtempSync(join(process.env.PUSH_TEST_RUN ?? tmpdir(), "t-"));
    // The users of servers reach their files.
    chmodSync(this.#folder, 0o755);
    for (const env of [process.env, global.process.env]) env.TMPDIR = this.#folder;
    this.#restores = [
      this.#watch(global, "setTimeout"),
      this.#watch(global, "setInterval"),
      this.#watch(timers, "setTimeout"),
      this.#watch(promises, "setTimeout"),
    ];
  }

  startTest() {
    this.#started.clear();
  }

  async endTest() {
    await settle(TIMERS_MS, () => this.#listTimers().length === 0);
    return this.#listTimers().map((line) => new Error(`A timer is not cleared: ${line}`));
  }

  async endFile() {
    await settle(ENDS_MS, () => this.#list().length === 0);
    const left = this.#list();
    return left.length > 0 ? [new Error(`The file leaves behind: ${left.join(", ")}`)] : [];
  }

  remove() {
    for (const restore of this.#restores) restore();
    process.env.TMPDIR = this.#outerFolder;
    if (this.#outerFolder === undefined) delete process.env.TMPDIR;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Notes each timer that a function starts; returns a function that ends this. */
  #watch(target, name) {
    const start = target[name];
    target[name] = (...args) => {
      const timer = start(...args);
      this.#started.set(timer, findCaller());
      const end = () => this.#started.delete(timer);
      if (timer instanceof Promise) timer.then(end, end);
      return timer;
    };
    return () => (target[name] = start);
  }

  /** Lists where timers of `lib` were started that are neither cleared nor over. */
  #listTimers() {
    return [...this.#started].flatMap(([timer, started]) => {
      return !isOver(timer) && started.includes(LIB) ? [started] : [];
    });
  }

  #list() {
    const files = readdirSync(this.#folder).filter((name) => !CACHES.test(name));
    return [
      ...compare(this.#resources, count(process.getActiveResourcesInfo())),
      ...compare(this.#listeners, countListeners(this.#process)),
      ...files.map((name) => `temporary file ${name}`),
    ];
  }
};

/**
 * Returns where the caller of the caller is, by the lines of the JavaScript: those of the TypeScript take
 * Jest a millisecond. An error that nobody reads would keep the objects of its stack.
 */
function findCaller() {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 3;
  Error.prepareStackTrace = (_error, sites) =>
    sites
      .slice(2)
      .map((site) => `${site.getFileName()}:${site.getLineNumber()}`)
      .join("");
  const { stack } = new Error();
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return stack;
}

async function settle(limitMs, isSettled) {
  for (let ms = 0; !isSettled() && ms < limitMs; ms += PAUSE_MS) await sleep(PAUSE_MS);
}

// oxlint-disable-next-line no-underscore-dangle
const isOver = (timer) => timer._destroyed === true;

function count(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const countListeners = (emitter) =>
  count(
    emitter
      .eventNames()
      .flatMap((name) => emitter.listeners(name).map(() => `listener of ${String(name)}`)),
  );

function compare(before, after) {
  return [...after].flatMap(([name, now]) => {
    const more = now - (before.get(name) ?? 0);
    return more > 0 ? [`${more} ${name}`] : [];
  });
}
