"use strict";
/** Servers on one core, their load on another, where the system can do that. */
const { spawnSync } = require("node:child_process");
const { availableParallelism } = require("node:os");

const SERVER_CORE = 0;
const LOAD_CORE = 1;
/** Set once this process is pinned itself: it then sees one core. */
const IS_PINNED = "BENCH_IS_PINNED";
const isPinned = process.env[IS_PINNED] !== undefined;
const canPin =
  isPinned || (availableParallelism() > 1 && spawnSync("taskset", ["-V"]).error === undefined);

/** A command, pinned to a core. */
function pin(core, command) {
  return canPin ? ["taskset", "-c", String(core), ...command] : command;
}

module.exports = { canPin, IS_PINNED, isPinned, LOAD_CORE, pin, SERVER_CORE };
