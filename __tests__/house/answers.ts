import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSection, readText, ROOT } from "../support/docs";

/**
 * The sections that docs/questions.md links to, each with a test that proves its answer and a text of
 * that test; alone where the answer is advice.
 */
const ANSWERS: [answer: string, file?: string, text?: string][] = [
  ["troubleshooting.md#nothing-arrives", "cli/program.test.ts", "webhooks check"],
  ["troubleshooting.md#nothing-arrives", "support/hostile-rows.ts", "METHOD_NOT_ALLOWED"],
  [
    "troubleshooting.md#the-service-gets-another-status-than-200",
    "docs/troubleshooting.test.ts",
    "has exactly the statuses and codes of the table",
  ],
  [
    "troubleshooting.md#the-service-gets-another-status-than-200",
    "core/receiver/deadline.test.ts",
    "deadlineMs bounds",
  ],
  [
    "troubleshooting.md#with-a-body-parser-in-the-app",
    "docs/troubleshooting.test.ts",
    "responds behind each body parser",
  ],
  ["signatures.md#the-raw-body", "core/receiver/node-request.test.ts", "BODY_CONSUMED"],
  ["signatures.md#causes", "core/signature/explain/explain-signature.test.ts", "URL_SCHEME"],
  ["signatures.md#causes", "core/signature/explain/changed-requests.test.ts", "PARAMS_"],
  ["signatures.md#causes", "core/signature/explain/changed-requests.test.ts", "BODY_JSON"],
  ["signatures.md#the-url", "docs/recipes.test.ts", "wrong_url"],
  ["signatures.md#the-url", "core/receiver/explain-requests.test.ts", "publicUrl is http:"],
  ["signatures.md#the-url", "core/signature/explain/explain-signature.test.ts", "OTHER_PRODUCT"],
  ["signatures.md#the-url", "core/signature/signed-parts.test.ts", "query"],
  ["signatures.md#rotating-the-auth-token", "token-rotation.test.ts", "it.each"],
  ["migration.md#from-authy-onetouch", "core/receiver/signature-headers.test.ts", "of Authy"],
  ["options.md#signatureheader", "core/receiver/signature-headers.test.ts", "--signature-header"],
  [
    "options.md#options-from-the-environment",
    "kit/auth-token.test.ts",
    "a token that anyone can guess",
  ],
  ["cli.md#trigger", "cli/trigger-reasons.test.ts", "signature is right"],
  ["troubleshooting.md#handlers", "core/delivery/handlers.test.ts", "onUnhandled"],
  ["troubleshooting.md#handlers", "admin/client/configuration-drift.test.ts", "DUPLICATE"],
  [
    "idempotency.md#what-a-receiver-does",
    "core/delivery/dedupe.test.ts",
    "fails only the concurrent duplicates",
  ],
  ["idempotency.md#what-a-receiver-does", "core/delivery/dedupe.test.ts", "completes one claim"],
  ["events.md#order-time-and-missed-events", "docs/recipes.test.ts", "keep the order of events"],
  ["events.md#order-time-and-missed-events", "admin/client/challenges.test.ts", "fetch"],
  [
    "events.md#order-time-and-missed-events",
    "emulator/api/entities-api.test.ts",
    'status: "expired"',
  ],
  ["challenges.md#if-the-webhook-never-arrives", "docs/login-exits.test.ts", "never arrives"],
  [
    "challenges.md#the-sequence-and-how-it-ends",
    "examples/push-login.test.ts",
    "when the phone approves",
  ],
  [
    "durable.md#guarantees",
    "durable/contract.ts",
    "lose no event that they stored when they are killed",
  ],
  [
    "durable.md#attempts-and-dead-letters",
    "durable/contract.ts",
    "makes an event that exhausted its attempts one",
  ],
  ["durable.md#attempts-and-dead-letters", "durable/contract.ts", "PermanentError"],
  [
    "durable.md#attempts-and-dead-letters",
    "durable/contract.ts",
    "runs the handlers of one or of all again",
  ],
  ["troubleshooting.md#in-tests", "core/receiver/web-request.test.ts", "CLOSING"],
  ["durable-sqlite.md", "durable/sqlite/file.test.ts", "FILE_IN_USE"],
  ["durable-redis.md#connection", "durable/setups/redis.test.ts", "cluster"],
  ["production.md#health-route", "durable/health.test.ts", "NO_WORKER"],
  ["production.md#shutting-down", "durable/health.test.ts", "NO_WORKER"],
  ["production.md#shutting-down", "release/nginx.test.ts", "lose no request while one closes"],
  [
    "production.md#shutting-down",
    "core/delivery/challenge-wait.test.ts",
    "rejects its own pending and later waits",
  ],
  ["errors.md#every-code-with-its-status", "cli/why.test.ts", "explains each code"],
  ["../README.md#try-the-example", "release/readme.test.ts", "show a 200 on one machine"],
  ["getting-started.md#1-receive-one-event", "release/package.test.ts", "createRequire"],
  ["samples.md", "docs/samples.test.ts", "shows the body and the event"],
  ["mistakes.md", "docs/recipes.test.ts", "docs/mistakes.md"],
  [
    "getting-started.md#2-run-the-service-on-your-machine",
    "release/readme.test.ts",
    "getting-started-1",
  ],
  ["testing.md#signed-requests", "release/readme.test.ts", "have tests that pass"],
  ["testing.md#signed-requests", "testing/signed-request.test.ts", "signedRequest"],
  ["migration.md#from-hand-written-code-or-an-sdk", "migration.test.ts", "twilio.webhook"],
  ["frameworks.md#recipes", "release/frameworks.test.ts", "the recipes for other frameworks"],
  ["production.md#addresses-of-the-sender"],
  ["admin.md#the-client", "admin/client/configuration-drift.test.ts", "ensure"],
  ["admin.md#the-client", "admin/client/configuration-drift.test.ts", "ensure leaves one Webhook"],
  ["durable.md"],
  ["options.md#acknowledge", "core/receiver/deadline.test.ts", "after the response"],
  ["options.md#time-limits", "core/receiver/deadline.test.ts", "deadlineMs bounds"],
  ["idempotency.md#several-processes", "release/frameworks.test.ts", "pm2"],
  [
    "durable.md#choose-an-engine",
    "durable/contract.ts",
    "lose no event that they stored when they are killed",
  ],
  ["observability.md#when-an-event-has-failed-for-ever", "docs/recipes.test.ts", "onDeadLetter"],
  ["idempotency.md#one-effect-in-your-database", "docs/recipes.test.ts", "the effect of one"],
  ["challenges.md#a-whole-login", "docs/login-exits.test.ts", "ends with its outcome"],
  [
    "challenges.md#polling-server-sent-events-or-a-websocket",
    "examples/push-login-page.test.ts",
    "signs in after a 202",
  ],
  ["signatures.md#several-accounts", "accounts.test.ts", "two accounts"],
  [
    "frameworks.md#functions-that-freeze",
    "docs/frozen-functions.test.ts",
    "stops its handlers in the middle",
  ],
  ["admin.md#rehearse-a-login", "admin/rehearsal/rehearse.test.ts", "rehearse"],
  ["upgrades.md", "durable/store-migration.test.ts", "it"],
  ["durable-sqlite.md#restore", "durable/sqlite/advice.test.ts", "restore"],
  ["durable-postgres.md", "durable/setups/postgres.test.ts", "POSTGRES_POOLED"],
  ["personal-data.md", "durable/purge.test.ts", "purges every 5 s"],
  ["personal-data.md", "docs/recipes.test.ts", "has no dead letter of a user that was erased"],
  ["production.md", "health-probes.test.ts", "docs/production.md"],
  ["observability.md", "core/observability/prometheus.test.ts", "text format of Prometheus"],
  ["observability.md#what-to-alert-on", "docs/alerts.test.ts", "fires each alert in Prometheus"],
  ["production.md#flood", "release/nginx.test.ts", "rejects a flood of one address with 429"],
  ["signatures.md#two-domains", "core/signature/signed-parts.test.ts", "every publicUrl"],
  ["admin.md#a-login-in-front-of-it", "docs/recipes.test.ts", "the login in front of the console"],
  ["../SECURITY.md#what-a-signature-authenticates", "support/hostile-rows.ts", "another Host"],
  ["../SECURITY.md#replays", "core/receiver/warnings.test.ts", "WAIT_UNCONFIRMED"],
  [
    "signed-text.md#time-and-replays",
    "core/signature/signature.test.ts",
    "verifies any signed parameters",
  ],
  ["signed-text.md#comparison", "core/signature/signature.test.ts", "verifySignature"],
  ["testing.md#why-verification-cannot-be-turned-off", "core/receiver/options.test.ts", "unknown"],
  ["../SECURITY.md#how-to-report"],
];

/** The symptoms of docs/troubleshooting.md that have no table, with their tests. */
const SYMPTOMS: typeof ANSWERS = [
  ["200, and no handler runs", "core/delivery/handlers.test.ts", "onUnhandled"],
  ["They run twice", "admin/client/configuration-drift.test.ts", "DUPLICATE"],
  ["Events arrive in another order than they happened", "docs/recipes.test.ts", "keep the order"],
  ["A handler needs a header of the request", "docs/recipes.test.ts", "AsyncLocalStorage"],
  ["`event.challenge_details` is `undefined`", "core/event/parse.test.ts", "issues"],
  [
    "`waitForChallenge` always times out",
    "core/delivery/challenge-wait.test.ts",
    "CHALLENGE_TIMEOUT",
  ],
  ["A `TypeError` of `pushWebhooks`", "core/receiver/options.test.ts", "explains the mistake"],
  ["`sqliteQueue needs node:sqlite`", "durable/missing-packages.test.ts", "without node:sqlite"],
  [
    "`await queue.ready()` never resolves",
    "durable/redis/availability.test.ts",
    "REDIS_UNREACHABLE",
  ],
  ['`Dynamic require of "…" is not supported`', "release/package.test.ts", "createRequire"],
  ["Jest does not exit, or a second test gets 503", "core/receiver/web-request.test.ts", "CLOSING"],
  ["A time-out never ends with fake timers", "fake-timers.test.ts", "useFakeTimers"],
  ["403 with `signedRequest`", "testing/signed-request.test.ts", "publicUrl"],
];

/** Finds answers and symptoms without a row, rows without one, and tests that do not exist. */
export function checkAnswers(): string[] {
  const sections = ["## Handlers", "## At start", "## In tests"];
  const symptoms = sections.map((heading) => readSection("docs/troubleshooting.md", heading));
  return [
    ...compare(ANSWERS, readText("docs/questions.md"), /^- .*: \[[^\]]+\]\(([^)]+)\)$/gm),
    ...compare(SYMPTOMS, symptoms.join("\n"), /^- \*\*(.*?)\*\*: /gm),
  ];
}

function compare(rows: typeof ANSWERS, text: string, pattern: RegExp): string[] {
  const written = Array.from(text.matchAll(pattern), ([, line = ""]) => line);
  const proven = rows.map(([line]) => line);
  const failed = rows.filter(([, file, part]) => {
    if (file === undefined || part === undefined) return false;
    const path = `__tests__/${file}`;
    return !existsSync(join(ROOT, path)) || !readText(path).includes(part);
  });
  return [
    ...written
      .filter((line) => !proven.includes(line))
      .map((line) => `"${line}" has no row in house/answers.ts`),
    ...proven
      .filter((line) => !written.includes(line))
      .map((line) => `house/answers.ts: no document has "${line}"`),
    ...failed.map(([line, file, part]) => `"${line}": ${file} has no ${part}`),
  ];
}
