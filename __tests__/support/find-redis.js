"use strict";

const { existsSync } = require("node:fs");
const { delimiter, join } = require("node:path");

/**
 * Finds a Redis for the tests of the durable queue: redis-server or valkey-server on the PATH.
 * Installs nothing: without a Redis the tests are skipped, and the run ends with a line that says how
 * to install one.
 *
 * @throws Error with CI=true and without a Redis: there, no test may be skipped.
 */
module.exports = function findRedis() {
  if (process.env.PUSH_TEST_REDIS_SERVER !== undefined) return;
  const server = findServer();
  process.env.PUSH_TEST_REDIS_SERVER = server ?? "";
  if (server === undefined && process.env.CI === "true") {
    throw new Error("The tests need a Redis: put redis-server or valkey-server on the PATH.");
  }
};

function findServer() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const files = ["redis-server", "valkey-server"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  return files.find((file) => existsSync(file));
}
