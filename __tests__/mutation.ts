/**
 * Changes the sources one small piece at a time, and expects their tests to notice at least 92 % of
 * the changes of each file. Needs minutes, so it is no part of the tests.
 *
 * npm run mutation -- [file of lib]...
 */

const BREAK_PERCENT = 92;
/** The files to mutate by default: authentication, parsing and deduplication. */
const CORE = [
  "signature/signature",
  "receiver/ambiguity",
  "receiver/body",
  "receiver/method-and-headers",
  "event/parse",
  "delivery/dedupe",
  "delivery/memory-dedupe",
  "delivery/dispatch",
  "errors/webhook-error",
];

/** The tests of a file, where those of the same name are not all. */
const TESTS: Record<string, string[]> = {
  "delivery/dedupe": [
    "delivery/dedupe",
    "delivery/delivery",
    "delivery/confirmation",
    "receiver/deadline",
    "receiver/health",
    "token-rotation",
  ],
  "delivery/dispatch": [
    "delivery/handlers",
    "observability/reporter",
    "otel/instrument",
    "receiver/warnings",
  ],
  "delivery/memory-dedupe": ["delivery/memory-dedupe", "testing/test-dedupe-store", "accounts"],
  "errors/webhook-error": ["errors/webhook-error", "error-copies", "receiver/warnings"],
  "event/parse": ["event/parse", "testing/event-fixture"],
  "receiver/ambiguity": [
    "receiver/ambiguity",
    "receiver/ambiguity-honest",
    "receiver/added-parameters",
  ],
  "receiver/authenticate": ["receiver/auth-tokens"],
  "receiver/body": [
    "receiver/node-request",
    "receiver/verify-push-request",
    "receiver/web-request",
    "receiver/deadline",
  ],
  "receiver/method-and-headers": ["hostile", "receiver/explain-requests"],
  "signature/signature": [
    "signature/signature",
    "signature/auth-token",
    "receiver/verify-push-request",
  ],
};

/** Runs the tests of a file against each of its mutants. */
async function mutate(file: string) {
  const name = file.replace(/^lib\/|\.ts$/g, "");
  const { Stryker } = await import("@stryker-mutator/core");
  const stryker = new Stryker({
    mutate: [file],
    // Most texts are messages: tests compare codes, whose spelling the compiler checks.
    mutator: { plugins: null, excludedMutations: ["StringLiteral"] },
    testRunner: "jest",
    plugins: ["@stryker-mutator/jest-runner"],
    jest: {
      config: {
        testMatch: (TESTS[name] ?? [name]).map((test) => `<rootDir>/__tests__/${test}.test.ts`),
        globalSetup: null,
        globalTeardown: null,
        reporters: [],
      },
      // Nearly every test is related to a file such as errors/webhook-error.ts.
      enableFindRelatedTests: false,
    },
    coverageAnalysis: "perTest",
    timeoutMS: 5_000,
    tsconfigFile: "none",
    concurrency: 1,
    ignorePatterns: ["bench", "coverage", "dist"],
    // A folder that Git, Prettier and Oxlint ignore.
    tempDirName: "coverage/mutation-tmp",
    reporters: ["clear-text", "json"],
    clearTextReporter: { logTests: false, reportTests: false, reportScoreTable: false },
    jsonReporter: { fileName: `coverage/mutation/${file.replaceAll("/", ".")}.json` },
  });
  const results = await stryker.runMutationTest();
  const count = (...statuses: string[]) =>
    results.filter(({ status }) => statuses.includes(status)).length;
  // Mutants that do not compile, or whose test file does not load, do not count.
  const [caught, missed] = [count("Killed", "Timeout"), count("Survived", "NoCoverage")];
  return { file, caught, missed, percent: Math.round((1000 * caught) / (caught + missed)) / 10 };
}

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  const files = given.length > 0 ? given : CORE.map((name) => `lib/${name}.ts`);
  const rows: Awaited<ReturnType<typeof mutate>>[] = [];
  for (const file of files) rows.push(await mutate(file));
  console.table(rows);
  const weak = rows.filter((row) => row.percent < BREAK_PERCENT).map(({ file }) => file);
  console.log(`below ${BREAK_PERCENT} %: ${weak.join(", ") || "none"}`);
  if (weak.length > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
