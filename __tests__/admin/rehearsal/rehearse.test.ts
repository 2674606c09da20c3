/** A login is rehearsed against the emulator over HTTP, with each link of its chain broken in turn. */
import { setTimeout } from "node:timers/promises";
import { PermanentError, type FetchOutcome } from "express-push-verification";
import { rehearse, type RehearsalReport, type RehearsalRow } from "express-push-verification/admin";
import { redisQueue } from "express-push-verification/durable";
import { probeUrl } from "../../../lib/admin/rehearsal/probe";
import { REHEARSAL_LINKS } from "../../../lib/admin/rehearsal/report";
import { inspectReceiver, type ReceiverInspection } from "../../../lib/core/receiver/inspection";
import { clientOf, startEmulator, startTarget, stopEmulators } from "../../support/emulators";
import { closeLater, closeOpened, silent } from "../../support/durable";
import { findFreePort } from "../../support/ports";
import { createReceiver } from "../../support/receivers";
import { describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { failedLinks, rehearseBroken, startBroken, type Broken } from "../../support/rehearsals";
import { countTime, never } from "../../support/waiting";
import { createMemoryQueue } from "../console/memory-queue";

const OTHER = "1".repeat(32);
const fail = () => {
  throw new Error("the database is away");
};
const giveUp = () => {
  throw new PermanentError("no such user");
};
const later = { deadlineMs: 1_500 };
const store = { claim: fail, complete() {}, release() {} };
/** The service responds to one kind of request with an error. */
const rejecting = (method: string, path: RegExp, status = 400): Broken => ({
  client: {
    fetch: (url, init) =>
      init.method === method && path.test(url)
        ? Promise.resolve(Response.json({ code: 60_200, message: "no" }, { status }))
        : fetch(url, init),
  },
});
/** The service creates a factor, and its response is lost. */
const losing: Broken = {
  client: {
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init.method !== "POST" || !url.endsWith("/Factors")) return response;
      await response.body?.cancel();
      throw new TypeError("no response");
    },
  },
};

/** Somebody else has deleted the user before. */
const deletedTwice: Broken = {
  client: {
    async fetch(url, init) {
      if (init.method === "DELETE") await fetch(url, init);
      return fetch(url, init);
    },
  },
};

const DENIALS: Broken["webhook"] = { event_types: ["challenge.denied"] };

countTime();
afterEach(async () => {
  await closeOpened();
  await stopEmulators();
});

function expectFailed(report: RehearsalReport, entityStatus: number, links: readonly string[]) {
  const { rows, identity } = report;
  expect(identity).toMatch(/^rehearsal-[\da-f-]{36}$/);
  for (const { result, durationMs } of rows)
    expect(Number.isInteger(durationMs)).toBe(result !== "skipped");
  const shown = rows.filter(({ result }) => result === "failed");
  expect(shown.map(({ link, reason }) => [link, reason])).toEqual(
    links.map((link) => [link, expect.any(String)]),
  );
  expect(rows.map(({ link }) => link)).toEqual(REHEARSAL_LINKS);
  expect(entityStatus).toBe(links.includes("removed") ? 200 : 404);
}

const rowOf = ({ rows }: RehearsalReport, link: RehearsalRow["link"]) =>
  rows.find((row) => row.link === link);

const GET = ["GET"] as const;
/** The reason; of nothing, what is skipped. */
it.each<[what: string, broken: Broken, links: string[], reason?: RegExp]>([
  ["nothing", {}, []],
  ["nothing, with GET", { receiver: { methods: GET }, webhook: { webhook_method: "GET" } }, []],
  ["nothing, without confirm", { receiver: { confirm: undefined } }, [], /^confirm$/],
  ["nothing, with an early response", { receiver: { acknowledge: "before" } }, [], /^handled$/],
  ["the password of the client", { client: { password: "wrong" } }, ["credentials"]],
  ["the rights of the client", rejecting("GET", /VA\w+$/, 403), ["credentials"]],
  ["the service of the client", { client: { serviceSid: `VA${OTHER}` } }, ["service"]],
  ["the URL of the service", { client: { verifyUrl: "http://127.0.0.1:9" } }, ["service"]],
  ["no Webhook", { webhook: null }, ["webhook"]],
  ["a slash", { hasSlash: true }, ["webhook"], /publicUrl is/],
  ["a disabled Webhook", { webhook: { status: "disabled" } }, ["enabled"]],
  ["a type that is missing", { webhook: DENIALS }, ["types"]],
  ["a type that is missing, where no handler is", { webhook: DENIALS, handler: null }, ["types"]],
  ["the version", { webhook: { version: "v1" } }, ["version"]],
  ["two Webhooks", { isDoubled: true }, ["drift"]],
  ["the method of the Webhook", { webhook: { webhook_method: "GET" } }, ["drift"]],
  ["the creation of a factor", rejecting("POST", /Factors$/), ["factor"], /60200/],
  ["the response to the creation of a factor", losing, ["factor"]],
  ["the verification of a factor", rejecting("POST", /Factors\/YF/), ["factor"]],
  ["the creation of a challenge", rejecting("POST", /Challenges$/), ["challenge"]],
  ["the approval of a challenge", rejecting("POST", /Challenges\/YC/), ["challenge"]],
  ["nothing, and the user is already deleted", deletedTwice, []],
  ["the removal of the entity", rejecting("DELETE", /Entities/), ["removed"]],
  [
    "a proxy that responds 502",
    { before: (_req, res) => void res.status(502).end(), timeoutMs: 1_000 },
    ["delivery"],
    /502/,
  ],
  [
    "a proxy that redirects",
    { before: (_req, res) => res.redirect("/login"), timeoutMs: 1_000 },
    ["delivery"],
    /302/,
  ],
  [
    "a body that another middleware reads",
    { before: (req, _res, next) => void req.resume().on("end", next), timeoutMs: 1_000 },
    ["delivery"],
    /BODY_CONSUMED/,
  ],
  [
    "another process without a queue",
    { other: {}, timeoutMs: 1_000 },
    ["delivery"],
    /another process.* use a queue/,
  ],
  [
    "the name of the signature header",
    { receiver: { signatureHeader: "X-Own" }, timeoutMs: 1_000 },
    ["signature"],
    /SIGNATURE_MISSING/,
  ],
  [
    "the token of the receiver",
    { receiver: { authToken: "another-token-of-mine" } },
    ["signature"],
  ],
  ["the account", { receiver: { allowedAccountSids: [`AC${OTHER}`] } }, ["signature"], /ACCOUNT/],
  ["the store", { receiver: { ...later, dedupe: store } }, ["stored"], /database is away/],
  ["confirm", { receiver: { confirm: () => false } }, ["confirm"], /NOT_CONFIRMED/],
  ["a confirm that fails", { receiver: { ...later, confirm: fail } }, ["confirm"], /UNAVAILABLE/],
  ["a handler that throws", { handler: fail }, ["handled"], /database is away/],
  ["a handler that hangs", { handler: never, receiver: { handlerTimeoutMs: 50 } }, ["handled"]],
])("%s broken: no other row fails than its own", async (...given) => {
  const [, broken, links, reason = links.length === 0 ? /^$/ : /./] = given;
  const { report, entityStatus } = await rehearseBroken(broken);
  expectFailed(report, entityStatus, links);
  expect(report.isOk).toBe(links.length === 0);
  for (const link of links) {
    const row = rowOf(report, link as "webhook");
    expect(`${row?.reason} ${row?.fix}`).toMatch(reason);
  }
  const skipped = report.rows.filter(({ result }) => result === "skipped");
  if (links.length === 0) expect(skipped.map(({ link }) => link).join()).toMatch(reason);
});

it.each(["/", "/sms"])("a Webhook at publicUrl%s, beside the right one, is drift", async (end) => {
  const { push, client, emulator } = await startBroken({});
  const webhook_url = push.publicUrl + end;
  emulator.createWebhook({ webhook_url, event_types: ["challenge.denied"] });
  expect(failedLinks(await rehearse({ push, client }))).toEqual(["drift"]);
});

it.each([
  ["ok", { serviceSid: `VA${OTHER}` }],
  ["skipped", { verifyUrl: "http://127.0.0.1:9" }],
])("the credentials are %s with %j", async (result, client) => {
  const { report } = await rehearseBroken({ client });
  expect(rowOf(report, "credentials")?.result).toBe(result);
});

it("names the clock of the app where confirm takes a response for an old one", async () => {
  jest.setSystemTime(Date.now() + 2 * 86_400_000);
  const { report, entityStatus } = await rehearseBroken({});
  expectFailed(report, entityStatus, ["confirm"]);
  expect(rowOf(report, "confirm")?.fix).toMatch(/2880 minutes ahead/);
});

it("is not content with the service's own word, which is no webhook request", async () => {
  const word = {
    type: "challenge.approved",
    account_sid: `AC${OTHER}`,
    service_sid: `VA${OTHER}`,
    factor_sid: `YF${OTHER}`,
    at: new Date(),
    source: "service",
  } as const;
  const fetchOutcome: FetchOutcome = async ({ challengeSid, entityIdentity, accountSid = "" }) => {
    const named = { challenge_sid: challengeSid, entity_identity: entityIdentity };
    return { ...word, ...named, account_sid: accountSid };
  };
  const confirm = Object.assign(() => true, { fetchOutcome });
  const before: Broken["before"] = (_req, res) => void res.status(502).end();
  const broken = { receiver: { confirm }, before, timeoutMs: 1_000 };
  const { report, entityStatus } = await rehearseBroken(broken);
  expectFailed(report, entityStatus, ["delivery"]);
  expect(rowOf(report, "waited")?.result).toBe("skipped");
});

it.each<[what: string, broken: Broken, links: string[]]>([
  ["nothing", {}, []],
  ["the approval of a challenge", rejecting("POST", /Challenges\/YC/), ["challenge"]],
])("is repeated in one process as the first time, with %s broken", async (_what, broken, links) => {
  const { push, client } = await startBroken(broken);
  const inspection = inspectReceiver(push) as ReceiverInspection;
  const { observe } = inspection;
  const stops: jest.Mock[] = [];
  jest.spyOn(inspection, "observe").mockImplementation((observer) => {
    const stop = jest.fn(observe(observer));
    stops.push(stop);
    return stop;
  });
  const wait = jest.spyOn(inspection, "waitForChallenge");
  for (let round = 0; round < 2; round++) {
    expect(failedLinks(await rehearse({ push, client }))).toEqual(links);
  }
  const waits = wait.mock.calls.map(([{ timeoutMs }]) => timeoutMs);
  expect(waits).toEqual([50_000, 50_000]);
  // No wait and no observer is left.
  expect(inspection.listPendingWaits()).toEqual([]);
  expect(stops.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

it("signs the members that the service names", async () => {
  const named: string[] = [];
  const client: Broken["client"] = {
    async fetch(url, init) {
      const [, body = ""] =
        new URLSearchParams(init.body ?? "").get("AuthPayload")?.split(".") ?? [];
      if (body !== "") named.push(...Object.keys(JSON.parse(atob(body)) as object));
      const response = await fetch(url, init);
      if (init.method !== "GET" || !url.includes("/Challenges/")) return response;
      const headers = { "X-Acme-Verify-Signature-Fields": "sid, details" };
      return new Response(response.body, { headers });
    },
  };
  const { report, entityStatus } = await rehearseBroken({ client });
  expectFailed(report, entityStatus, ["challenge"]);
  expect(named).toEqual(["sid", "details", "status"]);
});

it("names an unreachable publicUrl", async () => {
  const publicUrl = `http://127.0.0.1:${await findFreePort()}/webhooks/push`;
  const { report, entityStatus } = await rehearseBroken({
    receiver: { publicUrl },
    timeoutMs: 500,
  });
  expectFailed(report, entityStatus, ["delivery"]);
  expect(rowOf(report, "delivery")?.reason).toMatch(/ECONNREFUSED/);
});

it.each([
  ["push", {}],
  ["client", { push: createReceiver().push, client: {} }],
  ["timeoutMs", { timeoutMs: 0 }],
  ["timeout", { timeout: 5 }],
])("throws a TypeError for the option %s", async (name, options) => {
  const { push } = createReceiver();
  const client = clientOf(await startEmulator());
  const given = name === "push" ? { client } : { push, client, ...options };
  await expect(rehearse(given as never)).rejects.toThrow(TypeError);
  await expect(rehearse(given as never)).rejects.toThrow(name);
});

it.each<[probe: string, arrivesHere: (count: number) => boolean, requests: number]>([
  ["here", () => true, 4],
  ["another process", () => false, 1],
  // A balancer sends the requests to both in turn.
  ["another process", (count) => count < 3, 3],
])("tells %s, after so many requests", async (probe, arrivesHere, requests) => {
  let count = 0;
  let arrived = 0;
  const url = await startTarget((_req, res) => {
    if (arrivesHere(++count)) arrived++;
    res.writeHead(403, { "Cache-Control": "no-store" }).end("Forbidden\n");
  });
  expect(await probeUrl(url.replace("//", "//svc:pw@"), () => arrived)).toBe(probe);
  expect(count).toBe(requests);
});

it.each([
  [{ "Cache-Control": "no-store" }, "Forbidden"],
  [{}, "Forbidden\n"],
])("takes a response with %j %j for none of a receiver", async (headers, text) => {
  const url = await startTarget((_req, res) => res.writeHead(403, headers).end(text));
  const reason = expect.stringMatching(/403/);
  expect(await probeUrl(url, () => 0)).toHaveProperty("reason", reason);
});

describeWithRedis("with a queue", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let count = 0;
  beforeAll(async () => void (server = await startRedis()));
  afterAll(stopRedis);

  async function startQueue(options = {}) {
    const settings = { connection: server.url, logger: silent, ...options };
    const queue = closeLater(redisQueue({ name: `rehearsal-${++count}`, ...settings }));
    await queue.ready();
    return queue;
  }

  it.each<[what: string, broken: Broken, links: string[], reason?: RegExp]>([
    ["nothing", {}, []],
    ["nothing, at another process", { other: {} }, []],
    ["no worker", { hasWorker: false }, ["handled"], /worker/],
    [
      "no worker, without confirm",
      { hasWorker: false, receiver: { confirm: undefined } },
      ["handled"],
    ],
    ["confirm", { receiver: { confirm: () => false } }, ["confirm"], /NOT_CONFIRMED/],
    ["a handler that throws", { handler: fail }, ["handled"], /database is away/],
    ["no worker, at another process", { other: {}, hasWorker: false }, ["handled"], /worker/],
    [
      "confirm, at another process",
      { other: { confirm: () => false } },
      ["confirm"],
      /NOT_CONFIRMED/,
    ],
    ["a confirm that fails, at another process", { other: { confirm: fail } }, ["confirm"]],
    ["a handler that throws, at another process", { other: {}, handler: fail }, ["handled"]],
    [
      "a handler that gives up, at another process",
      { other: {}, handler: giveUp },
      ["handled"],
      /no such user/,
    ],
  ])("%s broken: no other row fails than its own", async (_what, broken, links, reason = /./) => {
    const queue = await startQueue({ backoff: 10_000 });
    // After its own dead letter comes that of another user.
    const list = queue.deadLetters.bind(queue);
    const find = jest.spyOn(queue, "find");
    jest.spyOn(queue, "deadLetters").mockImplementation(async function* (choice) {
      yield* list(choice);
      yield* createMemoryQueue(["of another user"]).deadLetters();
    });
    const timeoutMs = links.length > 0 ? 3_000 : 20_000;
    const { report, entityStatus } = await rehearseBroken({ queue, timeoutMs, ...broken });
    expectFailed(report, entityStatus, links);
    for (const link of links) expect(rowOf(report, link as "handled")?.reason).toMatch(reason);
    if (links.length === 0) expect(rowOf(report, "handled")?.result).toBe("ok");
    for (const [, named] of find.mock.calls) expect(named).toHaveProperty("accountSid");
  });

  it("finds what another process handled when the store takes more than a second", async () => {
    const queue = await startQueue();
    const stats = queue.stats.bind(queue);
    jest.spyOn(queue, "stats").mockImplementation(() => setTimeout(1_100).then(stats));
    const { report } = await rehearseBroken({ queue, timeoutMs: 20_000, other: {} });
    expect(rowOf(report, "handled")?.result).toBe("ok");
  });

  it("the row stored failed while the store is down", async () => {
    const queue = await startQueue({ storeTimeoutMs: 1_000 });
    await server.stop("SIGKILL");
    const { report } = await rehearseBroken({ queue, hasWorker: false });
    expect(failedLinks(report)).toEqual(["stored"]);
  });
});
