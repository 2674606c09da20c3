"use strict";

const { Worker } = require("node:worker_threads");
const { TestEnvironment } = require("jest-environment-node");

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

/** Runs a test file: tells its loops when a test ends, and ends a file that does not end. */
module.exports = class FileEnvironment extends TestEnvironment {
  #ended = new AbortController();

  constructor(config, context) {
    super(config, context);
    watch ??= new Worker(WATCH, { eval: true });
    watch.unref();
    const minutes = Number(process.env.PUSH_TEST_FILE_MINUTES ?? FILE_LIMIT_MINUTES);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    watch.postMessage({ file: context.testPath, limitMs: minutes * 60_000 });
  }

  /** Aborts the signal of a test or a hook when it has ended, or was given up. */
  handleTestEvent({ name }) {
    if (name === "test_fn_start" || name === "hook_start") {
      this.#ended = new AbortController();
      this.global.testEnds = this.#ended.signal;
    } else if (/^(test_fn|hook)_(success|failure)$/.test(name)) this.#ended.abort();
  }

  async teardown() {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    watch.postMessage({});
    await super.teardown();
  }
};
