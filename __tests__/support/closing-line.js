"use strict";

/** Ends a test run with the plain line that scripts read: `N passed, N failed`. */
module.exports = class ClosingLine {
  onRunComplete(
    _contexts,
    { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
  ) {
    // A file that does not load runs no test of its own, and has failed all the same.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    if (process.env.PUSH_TEST_REDIS_SERVER === "") {
      console.log(`!!! SKIPPED ${numPendingTests} TESTS: there is no redis-server on the PATH !!!`);
    }
    // Jest prints its summary after every reporter.
    process.once("exit", () => console.log(`${numPassedTests} passed, ${failed} failed`));
  }
};
