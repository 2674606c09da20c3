/**
 * Changes the sources one small piece at a time, and expects their tests to notice at least 92 % of
 * the changes of each file. Needs minutes, so it is no part of the tests.
 *
 * npm run mutation -- [file of lib]...
 */

/** The files to mutate by default, authentication, parsing and deduplication, and their tests. */
const CORE: Record<string, string> = {
  "core/signature/signature":
    "core/signature/signature kit/auth-token core/receiver/verify-push-request",
  "core/receiver/authenticate": "core/receiver/{auth-tokens,verify-push-request,push-webhooks}",
  "core/receiver/ambiguity": "core/receiver/{ambiguity,ambiguity-honest}",
  "core/receiver/body": "core/receiver/{node-request,verify-push-request,web-request,deadline}",
  "core/receiver/method-and-headers": "hostile core/receiver/explain-requests",
  "core/event/parse": "core/event/parse testing/event-fixture",
  "core/delivery/dedupe":
    "core/delivery/{dedupe,delivery,confirmation} core/receiver/{deadline,health} token-rotation",
  "core/delivery/memory-dedupe": "core/delivery/memory-dedupe testing/test-dedupe-store accounts",
  "core/delivery/dispatch":
    "core/delivery/handlers core/observability/reporter otel/instrument core/receiver/warnings",
  "core/errors/webhook-error": "core/errors/webhook-error error-copies core/receiver/warnings",
};

/** Runs the tests of a file against each of its mutants; a low score sets the exit code. */
async function mutate(file: string): Promise<void> {
  const name = file.replace(/^lib\/|\.ts$/g, "");
  const tests = (CORE[name] ?? name).split(" ");
  const { Stryker } = await import("@stryker-mutator/core");
  const stryker = new Stryker({
    mutate: [file],
    // Most texts are messages: tests compare codes, whose spelling the compiler checks.
    mutator: { plugins: null, excludedMutations: ["StringLiteral"] },
    testRunner: "jest",
    plugins: ["@stryker-mutator/jest-runner"],
    jest: {
      config: {
        testMatch: tests.map((test) => `<rootDir>/__tests__/${test}.test.ts`),
        // Stryker resolves it from its copy of the repository, and knows no <rootDir>.
        testEnvironment: "./__tests__/support/environment.js",
        globalSetup: null,
        reporters: [],
      },
      // Nearly every test is related to a file such as core/errors/webhook-error.ts.
      enableFindRelatedTests: false,
    },
    coverageAnalysis: "perTest",
    thresholds: { high: 92, low: 92, break: 92 },
    timeoutMS: 5_000,
    tsconfigFile: "none",
    concurrency: 1,
    ignorePatterns: ["bench", "coverage", "dist"],
    // A folder that Git, Prettier and Oxlint ignore.
    tempDirName: "coverage/mutation-tmp",
    reporters: ["clear-text"],
    clearTextReporter: { logTests: false, reportTests: false },
  });
  await stryker.runMutationTest();
}

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : Object.keys(CORE).map((name) => `lib/${name}.ts`);
  for (const file of files) await mutate(file);
}

void main();
