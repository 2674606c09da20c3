"use strict";

const { writeSync } = require("node:fs");

const IS_CI = process.env.CI === "true";
const EXIT_WITHIN_MS = 20_000;

/**
 * Ends a test run with the line that scripts read, `N passed, N failed`, and with what was skipped.
 * With CI=true a run that skips tests fails; one with `-t` asks for some tests only.
 */
module.exports = class ClosingLine {
  #isComplete;
  #skipped = [];

  constructor({ testNamePattern = "" }) {
    this.#isComplete = testNamePattern === "";
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
    // A file that does not load runs no test, but counts as a failure.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    if (this.#isComplete) this.#skipped = listSkipped(results);
    const verb = IS_CI ? "skipped, which CI=true forbids" : "skipped";
    const skipped = this.#skipped.length > 0 ? `; ${verb}: ${this.#skipped.join("; ")}` : "";
    // Jest prints its summary after every reporter.
    const line = `${numPassedTests} passed, ${failed} failed${skipped}\n`;
    process.once("exit", () => writeSync(1, line));
    setTimeout(exitAnyway, EXIT_WITHIN_MS).unref();
  }

  /** Jest fails a run of whose reporters one returns an error. */
  getLastError() {
    // What a platform lacks is skipped there on purpose.
    const missing = this.#skipped.filter((reason) => !reason.includes("(not on "));
    return IS_CI && missing.length > 0 ? new Error("Tests were skipped.") : undefined;
  }
};

/** Lists what skipped tests need, and the names of those that do not say it, with their numbers. */
function listSkipped({ testResults }) {
  const counts = new Map();
  for (const { fullName, status } of testResults.flatMap((file) => file.testResults)) {
    if (status !== "pending") continue;
    const what = /\[((?:needs|not on) .*)\]/.exec(fullName)?.[1] ?? fullName;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return Array.from(counts, ([what, count]) => `${count} (${what})`);
}

/** Lists the resources that keep the process alive, and ends it. Jest sets the exit code. */
function exitAnyway() {
  const open = process.getActiveResourcesInfo().join(", ");
  writeSync(2, `The tests have left open: ${open}. Run single files to find which one did.\n`);
  process.exit();
}
