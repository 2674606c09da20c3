"use strict";

const { chmodSync, mkdtempSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { buildPage } = require("../../lib/admin/console/page/build");
const findChromium = require("./find-chromium");
const findRedis = require("./find-redis");

/** Runs once before all tests. */
module.exports = function prepare() {
  // The Jest of durable/sqlite.test.ts shares the resources of the run around it.
  if (process.env.PUSH_TEST_RUN !== undefined) return;
  process.env.PUSH_TEST_RUN_OWNER = String(process.pid);
  process.env.PUSH_TEST_RUN = mkdtempSync(join(tmpdir(), "push-run-"));
  // The user of PostgreSQL writes there, too.
  chmodSync(process.env.PUSH_TEST_RUN, 0o755);
  findRedis();
  findChromium();
  // The router looks for the page beside its own module; here that is in lib.
  buildPage(join(__dirname, "../../lib/admin/console/assets"));
};
