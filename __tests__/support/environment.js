"use strict";

const { Server } = require("node:http");
const { Worker } = require("node:worker_threads");
const { TestEnvironment } = require("jest-environment-node");
const { Leftovers } = require("./leftovers");

/** Minutes that a test file may take; no file takes a tenth of it, also on a busy machine. */
const FILE_LIMIT_MINUTES = 30;

/**
 * A thread, because a loop of promises lets no timer of its own thread run. It ends the process:
 * Jest counts the file as failed, and goes on with the others.
 */
const WATCH = `
  const { writeSync } = require("node:fs");
  const { parentPort } = require("node:worker_threads");
  let timer;
  parentPort.on("message", ({ file, limitMs }) => {
    clearTimeout(timer);
    if (file === undefined) return;
    timer = setTimeout(() => {
      writeSync(2, file + " has not ended after " + limitMs / 60_000 + " minutes.\\n");
      process.kill(process.pid, "SIGKILL");
    }, limitMs);
  });`;

/** One for all files of this process. */
let watch;

/** Has no server end an idle connection: after a pause of this process, its client may just use it. */
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.keepAliveTimeout = 0;
  return listen.apply(this, args);
};

/**
 * Runs a test file: tells its loops when a test ends, ends a file that does not end, and fails one
 * that leaves something behind.
 */
module.exports = class FileEnvironment extends TestEnvironment {
  /** Whether all tests run: the hooks of a block without one do not, with `-t`. */
  #isWhole;
  #ended = new AbortController();
  #leftovers = new Leftovers(this.global);

  constructor(config, context) {
    super(config, context);
    this.#isWhole = config.globalConfig.testNamePattern === undefined;
    watch ??= new Worker(WATCH, { eval: true });
    watch.unref();
    const minutes = Number(process.env.PUSH_TEST_FILE_MINUTES ?? FILE_LIMIT_MINUTES);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    watch.postMessage({ file: context.testPath, limitMs: minutes * 60_000 });
  }

  /** Aborts the signal of a test or a hook when it has ended, or was given up. */
  async handleTestEvent({ name, test }, { unhandledErrors }) {
    if (name === "test_start") this.#leftovers.startTest();
    // Of concurrent tests, only the last one ends alone.
    if (name === "test_done" && !test.concurrent) {
      test.errors.push(...(await this.#leftovers.endTest()));
    }
    if (name === "run_finish" && this.#isWhole)
      unhandledErrors.push(...(await this.#leftovers.endFile()));
    if (name === "test_fn_start" || name === "hook_start") {
      this.#ended = new AbortController();
      this.global.testEnds = this.#ended.signal;
    } else if (/^(test_fn|hook)_(success|failure)$/.test(name)) this.#ended.abort();
  }

  async teardown() {
    this.#leftovers.remove();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    watch.postMessage({});
    await super.teardown();
  }
};
