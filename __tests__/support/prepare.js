"use strict";

const { join } = require("node:path");
const { buildPage } = require("../../lib/admin/console/page/build");
const findChromium = require("./find-chromium");
const findRedis = require("./find-redis");

/** Runs once before all tests. */
module.exports = function prepare() {
  findRedis();
  findChromium();
  // The router looks for the page beside its own module; here that is in lib.
  buildPage(join(__dirname, "../../lib/admin/console/assets"));
};
