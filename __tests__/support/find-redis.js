"use strict";

const { execFileSync } = require("node:child_process");
const { existsSync } = require("node:fs");
const { delimiter, join } = require("node:path");

/**
 * Finds a real Redis for the tests of the durable queue: a server of their own, redis-server or
 * valkey-server on the PATH, installed where that can be done; else the one at REDIS_URL, for the
 * tests that need not stop it.
 */
module.exports = function findRedis() {
  if (process.env.PUSH_TEST_REDIS_SERVER !== undefined) return;
  const server = findServer() ?? (canInstall() ? install() : undefined);
  process.env.PUSH_TEST_REDIS_SERVER = server ?? "";
  if (server !== undefined || process.env.REDIS_URL !== undefined) return;
  const advice = "put redis-server or valkey-server on the PATH, or set REDIS_URL";
  if (process.env.CI === "true") throw new Error(`There is no Redis to test with: ${advice}.`);
};

function findServer() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const files = ["redis-server", "valkey-server"].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  return files.find((file) => existsSync(file));
}

function canInstall() {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version");
}

function install() {
  const aptGet = (...args) => execFileSync("apt-get", ["-qq", ...args], { stdio: "ignore" });
  try {
    aptGet("update");
    aptGet("install", "-y", "--no-install-recommends", "redis-server");
  } catch {
    // Said by whoever needs it.
  }
  return findServer();
}
