"use strict";

const { rmSync } = require("node:fs");

/** Runs once after all tests. */
module.exports = function removeRun() {
  if (process.env.PUSH_TEST_RUN_OWNER !== String(process.pid)) return;
  rmSync(process.env.PUSH_TEST_RUN, { recursive: true, force: true });
};
