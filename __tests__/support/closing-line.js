"use strict";

const { writeSync } = require("node:fs");
const needs = require("./platform.json");

/** How to get a requirement, by an empty variable or by a part of the names of skipped tests. */
const REQUIREMENTS = {
  PUSH_TEST_CHROMIUM: "Chromium: put chromium on the PATH (Debian: apt-get install chromium)",
  PUSH_TEST_REDIS_SERVER:
    "Redis: put redis-server or valkey-server on the PATH (Debian: apt-get install redis-server)",
  "initdb and postgres":
    "PostgreSQL: put initdb and postgres on the PATH (Debian: apt-get install postgresql)",
  "behind pgbouncer": "pgbouncer: install it (Debian: apt-get install pgbouncer)",
  "behind pgpool": "pgpool: install it (Debian: apt-get install pgpool2)",
  "no Node.js with node:sqlite": "SQLite: Node.js 22.13 or newer, or a registry to install it from",
  "the recipes for other frameworks": "The packages of the recipes: npm run frameworks",
  "behind nginx": "nginx: put it on the PATH (Debian: apt-get install nginx)",
};

const EXIT_WITHIN_MS = 20_000;

/**
 * Ends a test run with the skipped tests, their requirements, and the line that scripts read:
 * `N passed, N failed`.
 */
module.exports = class ClosingLine {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
    // A file that does not load runs no test, but counts as a failure.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    for (const line of describeSkipped(results)) console.log(line);
    // Jest prints its summary after every reporter.
    process.once("exit", () => writeSync(1, `${numPassedTests} passed, ${failed} failed\n`));
    setTimeout(exitAnyway, EXIT_WITHIN_MS).unref();
  }
};

/** Lists the resources that keep the process alive, and ends it. Jest sets the exit code. */
function exitAnyway() {
  const open = process.getActiveResourcesInfo().join(", ");
  writeSync(2, `The tests have left open: ${open}. Run single files to find which one did.\n`);
  process.exit();
}

function describeSkipped({ numPendingTests, testResults }) {
  if (numPendingTests === 0) return [];
  const names = testResults.flatMap((file) =>
    file.testResults.filter(({ status }) => status === "pending").map(({ fullName }) => fullName),
  );
  const lines = Object.entries(REQUIREMENTS)
    .filter(([part]) => process.env[part] === "" || names.some((name) => name.includes(part)))
    .map(([, need]) => `  ${need}`);
  const { platform } = process;
  const lacking = Object.entries(needs)
    .filter(([, { platforms }]) => !platforms.includes(platform))
    .map(([need, { reason }]) => `  ${need}, not on ${platform}: ${reason}`);
  lines.push(...lacking);
  return [
    `${numPendingTests} tests were skipped.${lines.length > 0 ? " They need:" : ""}`,
    ...lines,
  ];
}
