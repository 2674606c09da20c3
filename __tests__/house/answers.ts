import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSection, readText, ROOT } from "../support/docs";

/**
 * The lines of docs/questions.md, each with the test that proves its answer and a text of that test;
 * alone where the answer is advice.
 */
const ANSWERS: [question: string, file?: string, text?: string][] = [
  ["a self-signed certificate, a TLS error"],
  [
    "use `require` or `import`, CommonJS, `ERR_REQUIRE_ESM`, TypeScript",
    "release/package.test.ts",
    "createRequire",
  ],
  ["choose which event types are sent", "admin/client/configuration-drift.test.ts", "ensure"],
  ["know whether the service retries after a 500"],
  ["the user approved, and the webhook never came", "docs/login-exits.test.ts", "never arrives"],
  [
    "prove that a login works in production, a smoke test",
    "admin/rehearsal/rehearse.test.ts",
    "rehearse",
  ],
  ["upgrade or roll back this package beside a queue", "durable/store-migration.test.ts", "it"],
  ["restore a queue from a backup", "durable/sqlite/advice.test.ts", "restore"],
  [
    "the webhook is not received, nothing arrives, no request in the log",
    "cli/program.test.ts",
    "webhooks check",
  ],
  [
    "401, 403, 404, 405, 413, 415, 429, 500, 502, 503",
    "docs/troubleshooting.test.ts",
    "has exactly the statuses and codes of the table",
  ],
  ["403 and no line in my log", "docs/troubleshooting.test.ts", '["403", "no line"'],
  [
    '400 "Unexpected token \u2026 is not valid JSON"',
    "docs/troubleshooting.test.ts",
    "responds behind each body parser",
  ],
  ["a redirect from http to https, or to www", "docs/troubleshooting.test.ts", "res.redirect"],
  [
    "the sender reports a timeout, my server runs",
    "core/receiver/deadline.test.ts",
    "deadlineMs bounds",
  ],
  [
    "the body is empty in production (Firebase, a function) and works locally",
    "core/receiver/node-request.test.ts",
    "BODY_CONSUMED",
  ],
  [
    "invalid signature, every request gets 403",
    "core/signature/explain/explain-signature.test.ts",
    "URL_SCHEME",
  ],
  [
    "it works locally and fails in production, on Heroku, behind a load balancer or a proxy",
    "docs/recipes.test.ts",
    "wrong_url",
  ],
  [
    "it fails with ngrok or another tunnel",
    "core/receiver/first-lines.test.ts",
    "http in place of https",
  ],
  [
    "only some events have a wrong signature (test and live, umlauts, another account)",
    "core/signature/explain/changed-requests.test.ts",
    "PARAMS_",
  ],
  [
    "it fails since the token was rotated, primary and secondary token",
    "token-rotation.test.ts",
    "it.each",
  ],
  [
    "I verify `JSON.stringify(req.body)`, and it is always false",
    "core/signature/explain/changed-requests.test.ts",
    "BODY_JSON",
  ],
  [
    "the signature header is missing, or has another name",
    "core/receiver/signature-headers.test.ts",
    "--signature-header",
  ],
  [
    "`authToken` is not set, an environment variable or `.env` is not loaded",
    "kit/auth-token.test.ts",
    "a token that anyone can guess",
  ],
  [
    "webhooks of another Twilio product get 403 or 415",
    "core/signature/explain/explain-signature.test.ts",
    "OTHER_PRODUCT",
  ],
  [
    "Postman or curl gets 403",
    "core/receiver/first-lines.test.ts",
    "signature is right",
  ],
  ["200, and my handler does not run", "core/delivery/handlers.test.ts", "onUnhandled"],
  [
    "a webhook twice, duplicate events, the same uuid",
    "core/delivery/dedupe.test.ts",
    "fails only the concurrent duplicates",
  ],
  ["each event twice, with two uuids", "admin/client/configuration-drift.test.ts", "DUPLICATE"],
  [
    'events out of order, "denied" after "approved"',
    "docs/recipes.test.ts",
    "keep the order of events",
  ],
  ["missed events, my server was down", "admin/client/challenges.test.ts", "fetch"],
  [
    "the login waits for ever, `CHALLENGE_TIMEOUT`",
    "examples/push-login.test.ts",
    "when the phone approves",
  ],
  [
    "a job is stuck, locked, stalled, or runs again after its worker hung",
    "durable/contract.ts",
    "lose no event that they stored when they are killed",
  ],
  [
    "one event fails again and again; does it block the queue",
    "durable/contract.ts",
    "makes an event that exhausted its attempts one",
  ],
  ["Jest does not exit, open handles", "docs/troubleshooting.test.ts", "CLOSING"],
  ['"database is locked"', "durable/sqlite/file.test.ts", "FILE_IN_USE"],
  ["`CROSSSLOT`, a Redis Cluster; Redis is full", "durable/setups/redis.test.ts", "cluster"],
  ["`PayloadTooLargeError`, request entity too large", "docs/troubleshooting.test.ts", '["413"'],
  [
    "my `webhook_url` has a query string, or a user and a password",
    "core/signature/signed-parts.test.ts",
    "query",
  ],
  ["Authy, OneTouch, `X-Authy-Signature`", "core/receiver/signature-headers.test.ts", "of Authy"],
  [
    "the challenge expired, the user never answered",
    "emulator/api/entities-api.test.ts",
    'status: "expired"',
  ],
  ["stop retrying an event that can never be handled", "durable/contract.ts", "PermanentError"],
  [
    "know when an event has failed for ever, after all retries",
    "docs/recipes.test.ts",
    "onDeadLetter",
  ],
  [
    "write to my database in one transaction with the event",
    "docs/recipes.test.ts",
    "the effect of one",
  ],
  ["pause the handlers, maintenance of a database", "durable/health.test.ts", "NO_WORKER"],
  ["use pgbouncer or another pooler", "durable/setups/postgres.test.ts", "POSTGRES_POOLED"],
  [
    "keep the table or the file of a queue small, clean up old events",
    "durable/purge.test.ts",
    "purges every 5 s",
  ],
  ["redact or encrypt what is stored"],
  ["events are not handled, `NO_WORKER`", "durable/health.test.ts", "NO_WORKER"],
  ["requests are lost in each deploy", "release/nginx.test.ts", "lose no request while one closes"],
  ["a code in capitals, such as `STORE_UNAVAILABLE`", "cli/why.test.ts", "explains each code"],
  ["try it without an account", "release/readme.test.ts", "show a 200 on one machine"],
  ["see a whole payload and its event", "docs/samples.test.ts", "shows the body and the event"],
  ["see what is wrong beside what is right", "docs/recipes.test.ts", "docs/mistakes.md"],
  [
    "know where to mount it beside `express.json()`",
    "docs/troubleshooting.test.ts",
    "responds behind each body parser",
  ],
  [
    "receive webhooks on localhost without the service",
    "release/readme.test.ts",
    "getting-started-1",
  ],
  ["a tunnel for local development, ngrok, cloudflared"],
  ["check that my endpoint can be reached", "docs/troubleshooting.test.ts", "METHOD_NOT_ALLOWED"],
  [
    "test my handlers with Jest or vitest, mock a webhook",
    "release/readme.test.ts",
    "have tests that pass",
  ],
  [
    "sign a request by hand, with Postman or curl",
    "testing/signed-request.test.ts",
    "signedRequest",
  ],
  ["replace `twilio.webhook()` or `validateRequest`", "migration.test.ts", "twilio.webhook"],
  [
    "use Fastify, NestJS, Next.js, Koa, Hono, Lambda, Workers",
    "release/frameworks.test.ts",
    "the recipes for other frameworks",
  ],
  ["know whether I must enable CORS"],
  [
    "respond 200 before slow work",
    "core/receiver/deadline.test.ts",
    "after the response",
  ],
  ["know how long a handler may take", "core/receiver/deadline.test.ts", "deadlineMs bounds"],
  [
    "make handlers idempotent, find an idempotency key",
    "core/delivery/dedupe.test.ts",
    "runs handlers once",
  ],
  ["run several processes, pm2, cluster", "release/frameworks.test.ts", "pm2"],
  [
    "never lose an event",
    "durable/contract.ts",
    "lose no event that they stored when they are killed",
  ],
  [
    "retry failed events, see and empty the dead letter queue",
    "durable/contract.ts",
    "runs the handlers of one or of all again",
  ],
  ["wait for a login, 2FA, MFA", "release/readme.test.ts", "startLogins"],
  [
    "tell the browser: polling, long polling, websocket, server-sent events",
    "examples/push-login-page.test.ts",
    "signs in after a 202",
  ],
  ["use several accounts, subaccounts", "accounts.test.ts", "two accounts on one receiver"],
  [
    "use serverless functions: cold starts, a frozen process, work after the response, `waitUntil`",
    "docs/frozen-functions.test.ts",
    "stops its handlers in the middle",
  ],
  ["a checklist before I go live", "health-probes.test.ts", "docs/production.md"],
  [
    "deploy without downtime, SIGTERM, pm2, Kubernetes, Docker, systemd, Windows",
    "release/nginx.test.ts",
    "lose no request while one closes",
  ],
  [
    "know what becomes of open waits in a deploy",
    "core/delivery/challenge-wait.test.ts",
    "rejects its own pending and later waits",
  ],
  [
    "monitor it, Prometheus, Grafana, OpenTelemetry, Sentry",
    "core/observability/prometheus.test.ts",
    "text format of Prometheus",
  ],
  ["be alerted", "docs/alerts.test.ts", "fires each alert in Prometheus"],
  [
    "limit the rate of a public endpoint, a flood, DDoS",
    "release/nginx.test.ts",
    "rejects a flood of one address with 429",
  ],
  ["rotate the auth token without downtime", "token-rotation.test.ts", "it.each"],
  ["move to another domain", "core/signature/signed-parts.test.ts", "every publicUrl"],
  [
    "put a login in front of the console",
    "docs/recipes.test.ts",
    "the login in front of the console",
  ],
  [
    "create the Webhook from my deploy script",
    "admin/client/configuration-drift.test.ts",
    "ensure leaves one Webhook",
  ],
  ["know what a signature proves", "support/hostile-rows.ts", "another Host"],
  ["stop replay attacks", "core/receiver/warnings.test.ts", "WAIT_UNCONFIRMED"],
  [
    "set a timestamp tolerance, clock skew",
    "core/signature/signature.test.ts",
    "verifies any signed parameters",
  ],
  ["compare signatures in constant time", "core/signature/signature.test.ts", "verifySignature"],
  ["allow only the IP addresses of the service, a whitelist or firewall"],
  [
    "GDPR, PII, retention, erase a user",
    "docs/recipes.test.ts",
    "has no dead letter of a user that was erased",
  ],
  ["turn verification off in tests", "core/receiver/options.test.ts", "unknown"],
  ["report a vulnerability"],
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
  ["Jest does not exit, or a second test gets 503", "docs/troubleshooting.test.ts", "CLOSING"],
  ["A time-out never ends with fake timers", "fake-timers.test.ts", "useFakeTimers"],
  ["403 with `signedRequest`", "testing/signed-request.test.ts", "publicUrl"],
];

/** Finds questions and symptoms without a row, rows without one, and tests that do not exist. */
export function checkAnswers(): string[] {
  const sections = ["## Handlers", "## At start", "## In tests"];
  const symptoms = sections.map((heading) => readSection("docs/troubleshooting.md", heading));
  return [
    ...compare(ANSWERS, readText("docs/questions.md"), /^- (.*): \[[^\]]+\]\([^)]+\)$/gm),
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
      .filter((line, index) => !proven.includes(line) || written.indexOf(line) !== index)
      .map((line) => `"${line}" stands twice, or has no row in house/answers.ts`),
    ...proven
      .filter((line) => !written.includes(line))
      .map((line) => `house/answers.ts: no document has "${line}"`),
    ...failed.map(([line, file, part]) => `"${line}": ${file} has no ${part}`),
  ];
}
