/** The requests of a receiver, as a console tells of them to its page. */
import { createMemoryDedupe, PermanentError } from "express-push-verification";
import type { DedupeStore, PushEvent, PushWebhooksOptions } from "express-push-verification";
import type { EventStatus } from "../../../lib/core/delivery/event-queue";
import type { Changes, RequestDetails } from "../../../lib/admin/console/console-view";
import { ACCOUNT_SID, AUTH_TOKEN, CHALLENGE_SID, FACTOR_SID } from "../../support/webhook-requests";
import { idOf, readRequests, startConsole, useConsoles } from "./console-app";
import type { ConsoleApp } from "./console-app";
import { measureHeap } from "../../support/heap";
import { until } from "../../support/waiting";
import { createMemoryQueue } from "./memory-queue";

useConsoles();

const JANE = "jane.doe@example.com";
const OTHER_SID = `YC${"7".repeat(32)}`;
const ADA = "user-7f3a-22";
const WRONG = { authToken: "another" };
const approve = "challenge.approved";

/** Delivers requests whose signature is of another URL, which `explain` can prove. */
async function deliverMismatches(app: ConsoleApp, count: number): Promise<void> {
  const signedUrl = `${app.publicUrl}/`;
  for (let index = 0; index < count; index++) await app.deliver(approve, {}, { signedUrl });
}

const explain = async (app: ConsoleApp, number: number | string) =>
  app.call(`/requests/${await idOf(app, number)}/explanation`);

const uuidsOf = ({ rows }: Changes) => rows.map(({ uuid }) => uuid);

describe("the rows", () => {
  it("have each request, the oldest first, masked, and of an unverified one what it may claim", async () => {
    const app = await startConsole();
    app.push.on("challenge.denied", () => {
      throw new PermanentError(`no such user ${ADA}`);
    });
    await app.deliver(approve, { uuid: "a" });
    await app.deliver(approve, { uuid: "u".repeat(200), account_sid: FACTOR_SID }, WRONG);
    await app.deliver("challenge.denied", { challenge_details: "{" });
    await app.deliver("factor.created", { uuid: "console-test-1" });
    await fetch(app.publicUrl);
    const { rows, totals } = await readRequests(app);
    const number = expect.any(Number);
    const id = expect.stringMatching(/^[0-9a-f]{8}-\d$/);
    const measured = { id, change: number, atMs: number, durationMs: number, attempt: 1 };
    const target = "POST /webhooks/push";
    const common = { ...measured, target, issues: [], canExplain: false, isTest: false };
    const sids = { factorSid: FACTOR_SID, challengeSid: CHALLENGE_SID };
    const pseudonym = expect.stringMatching(/^[0-9a-f]{8}$/);
    const handled = { canResend: true, result: "handled", status: 200, tokenIndex: 0, urlIndex: 0 };
    const names = { accountSid: ACCOUNT_SID, uuid: "a", entity: "us…22", pseudonym };
    const event = { type: approve, version: "v2", ...names };
    const code = "SIGNATURE_MISMATCH";
    const rejected = { canResend: false, result: "rejected", status: 403, code };
    const claimed = { uuid: `${"u".repeat(100)}…`, ...sids };
    const explanation = expect.objectContaining({ code: "TOKEN_WRONG" });
    expect(rows.slice(0, 2)).toEqual([
      { ...common, ...sids, ...handled, ...event },
      { ...common, ...rejected, message: expect.any(String), claimed, explanation },
    ]);
    // A clock that was corrected meanwhile differs.
    expect(Math.abs((rows[0]?.atMs ?? 0) - Date.now())).toBeLessThan(600_000);
    const failure = "no such user <entity_identity>";
    const issues = [expect.stringMatching(/^challenge_details: /)];
    expect(rows.slice(2)).toMatchObject([
      { result: "failed", status: 500, code: "HANDLER_FAILED", failure, issues },
      { result: "handled", isTest: true },
      { code: "METHOD_NOT_ALLOWED", claimed: {} },
    ]);
    const lastAtMs = rows[1]?.atMs;
    const source = {
      address: "127.0.0.1",
      userAgent: "node",
      count: 1,
      lastAtMs,
    };
    expect(totals).toEqual({
      sinceMs: number,
      received: 5,
      byResult: { handled: 2, stored: 0, duplicate: 0, conflict: 0, rejected: 2, failed: 1 },
      byCode: { SIGNATURE_MISMATCH: 1, HANDLER_FAILED: 1, METHOD_NOT_ALLOWED: 1 },
      rejections: [
        { code, count: 1, firstAtMs: lastAtMs, lastAtMs, sources: [source] },
        expect.objectContaining({ code: "METHOD_NOT_ALLOWED" }),
      ],
      waits: { count: 0 },
      rotation: [],
    });
  });

  it("count the deliveries of a uuid, and are the last 200, while the totals are of all", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "first" });
    await deliverMismatches(app, 1);
    await app.deliver(approve, { uuid: "again" });
    await app.deliver(approve, { uuid: "again" });
    await app.deliver("challenge.denied", { uuid: "again" });
    const again = (await readRequests(app)).rows.slice(2);
    const results = again.map(({ attempt, result }) => `${attempt} ${result}`);
    expect(results).toEqual(["1 handled", "2 duplicate", "3 conflict"]);
    for (let count = 0; count < 200; count++) await app.deliver();
    // Its first delivery is no longer among the rows.
    await app.deliver(approve, { uuid: "first" });
    const { rows, totals } = await readRequests(app);
    expect({ length: rows.length, id: rows[0]?.id, received: totals.received }).toEqual({
      length: 200,
      id: await idOf(app, 7),
      received: 206,
    });
    const last = { id: await idOf(app, 206), result: "duplicate", attempt: 1 };
    expect(rows.at(-1)).toMatchObject(last);
    for (const id of [2, 6, 7, 0, 207, -1, "x"])
      expect(await explain(app, id)).toMatchObject({ status: 404 });
  });
});

describe("GET /console/changes", () => {
  it("has all rows without a cursor of this process, and those that changed after one", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "a" });
    const all = await readRequests(app);
    const { cursor } = all;
    expect([all.isComplete, uuidsOf(all)]).toEqual([true, ["a"]]);
    for (const uuid of ["b", "c"]) await app.deliver(approve, { uuid });
    const unknown = ["", "1-1", `${cursor}9`, "x"];
    for (const after of [cursor, `0-7,${cursor}`, ...unknown]) {
      const { isComplete, rows } = await readRequests(app, after);
      const expected = unknown.includes(after) ? [true, 3] : [false, 2];
      expect([after, isComplete, rows.length]).toEqual([after, ...expected]);
    }
    const last = await readRequests(app, cursor);
    expect(uuidsOf(await readRequests(app, last.cursor))).toEqual([]);
  });

  it("has the row of a request whose handlers failed after the response, which is counted once", async () => {
    const app = await startConsole({ receiver: { acknowledge: "before" } });
    let fail: (error: Error) => void = () => {};
    app.push.onAny(() => new Promise((_resolve, reject) => (fail = reject)));
    expect(await app.deliver()).toBe(200);
    const { rows: before, cursor } = await readRequests(app);
    expect(before).toMatchObject([{ result: "handled" }]);
    fail(new Error("the database is away"));
    await until(async () => (await readRequests(app, cursor)).rows.length > 0);
    const { rows, totals } = await readRequests(app, cursor);
    const failed = { result: "failed", status: 200, code: "HANDLER_FAILED", attempt: 1 };
    expect(rows).toMatchObject([failed]);
    const counts = { byResult: { handled: 0, failed: 1 }, byCode: { HANDLER_FAILED: 1 } };
    expect(totals).toMatchObject({ received: 1, ...counts });
  });

  it("finds the causes of a few wrong signatures a minute, the newest first", async () => {
    const app = await startConsole();
    // On a busy machine the work of three explanations would exceed the receiver's budget.
    const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    await deliverMismatches(app, 5);
    for (let polls = 0; polls < 4; polls++) await readRequests(app);
    const { rows } = await readRequests(app);
    expect(rows.map(({ canExplain }) => canExplain)).toEqual([true, true, false, false, false]);
    now.mockRestore();
  });
});

describe("the rejected requests", () => {
  const reject = (app: ConsoleApp, agent: string) =>
    app.deliver(approve, {}, { ...WRONG, headers: { "User-Agent": agent } });

  it("have the last 5 of their senders", async () => {
    const app = await startConsole();
    for (const agent of "abcdefb") await reject(app, agent);
    const [mismatches] = (await readRequests(app)).totals.rejections;
    expect(mismatches?.count).toBe(7);
    const sources = mismatches?.sources.map(({ userAgent, count }) => `${count} of ${userAgent}`);
    expect(sources).toEqual(["2 of b", "1 of f", "1 of e", "1 of d", "1 of c"]);
  });

  it("are explained one of each kind first, and one of each stays explainable", async () => {
    const app = await startConsole();
    await deliverMismatches(app, 2);
    for (let count = 0; count < 12; count++) await reject(app, "noise");
    await readRequests(app);
    const { rows } = await readRequests(app);
    const explained = rows.filter(({ explanation }) => explanation !== undefined);
    expect(explained).toEqual([rows[1], rows[13]]);
    expect(explained.map((row) => row.explanation?.isProven)).toEqual([true, false]);
    expect(rows[13]?.explanation?.cause).toMatch(/^Probably: /);
  });
});

it("GET /console/requests/:id/explanation finds a cause once, of the last 10", async () => {
  const app = await startConsole();
  await deliverMismatches(app, 11);
  const explained = await explain(app, 11);
  const explanation = { isProven: true, subject: `${app.publicUrl}/` };
  expect(explained).toMatchObject({ status: 200, body: { canExplain: false, explanation } });
  expect(await explain(app, 11)).toEqual(explained);
  expect((await readRequests(app)).rows.at(-1)).toEqual(explained.body);
  expect(await explain(app, 1)).toMatchObject({ status: 404 });
});

it("GET /console/requests/:id/explanation responds 429 when the budget is used up", async () => {
  const app = await startConsole();
  await deliverMismatches(app, 10);
  // Fewer than 10 on a slow machine: the budget also limits the work.
  for (let id = 1; id <= 10; id++) await explain(app, id);
  await deliverMismatches(app, 1);
  expect(await explain(app, 11)).toMatchObject({ status: 429, body: { code: "BUDGET_USED_UP" } });
  // Not given up: the budget is renewed.
  expect((await readRequests(app)).rows.at(-1)).toMatchObject({ canExplain: true });
});

describe("the rotation of tokens", () => {
  const OLD = "0".repeat(32);
  const accounts = Array.from({ length: 12 }, (_, index) => `AC${String(index).padStart(32, "0")}`);

  it("counts the requests of each of a list of tokens, and when the last of them arrived", async () => {
    const app = await startConsole({ receiver: { authToken: [AUTH_TOKEN, OLD] } });
    await app.deliver(approve, {}, WRONG);
    expect((await readRequests(app)).totals.rotation).toEqual([]);
    await app.deliver();
    const { rotation } = (await readRequests(app)).totals;
    expect(rotation[0]?.tokens).toMatchObject([{ count: 1 }, { count: 0 }]);
    await app.deliver(approve, {}, { authToken: OLD });
    await app.deliver(approve, {}, { authToken: OLD });
    const { rows, totals } = await readRequests(app);
    const token = (count: number, lastAtMs?: number) => ({ count, lastAtMs });
    const tokens = [token(1, rows[1]?.atMs), token(2, rows[3]?.atMs)];
    expect(totals.rotation).toEqual([{ accountSid: ACCOUNT_SID, tokens }]);
  });

  it("has the accounts of a function that used another than the first token: 10, with 16 tokens each", async () => {
    const tokens = Array.from({ length: 17 }, (_, index) => `token-${index}-of-the-account`);
    const app = await startConsole({ receiver: { authToken: () => tokens } });
    const deliver = (account_sid: string, index: number) =>
      app.deliver(approve, { account_sid }, { authToken: tokens[index] ?? "" });
    await deliver(ACCOUNT_SID, 0);
    for (const account of accounts.slice(0, -1)) await deliver(account, 1);
    for (const index of [15, 16]) await deliver(accounts.at(-1) ?? "", index);
    const { rotation } = (await readRequests(app)).totals;
    expect(rotation.map(({ accountSid }) => accountSid)).toEqual(accounts.slice(2));
    expect(rotation.map((account) => account.tokens.length)).toEqual([...Array(9).fill(2), 16]);
  });
});

const MINUTE_MS = 60_000;

it("GET /console/changes counts accepted and bad requests by the minute for an hour, and by the hour for a day", async () => {
  const app = await startConsole();
  await app.deliver();
  await app.deliver(approve, {}, WRONG);
  const { rows } = await readRequests(app);
  const now = jest.spyOn(Date, "now");
  const sum = (steps: readonly number[]) => steps.reduce((total, count) => total + count, 0);
  for (const [minutes, inHour, inDay] of [
    [0, 1, 1],
    [58, 1, 1],
    [61, 0, 1],
    [25 * 60, 0, 0],
  ] as const) {
    now.mockReturnValue((rows[1]?.atMs ?? 0) + minutes * MINUTE_MS);
    const { series } = await readRequests(app);
    const found = series.map(({ stepMs, accepted, bad }) => [
      stepMs * accepted.length,
      sum(accepted),
      sum(bad),
    ]);
    const hour = [60 * MINUTE_MS, inHour, inHour];
    expect([minutes, found]).toEqual([minutes, [hour, [24 * 60 * MINUTE_MS, inDay, inDay]]]);
  }
  now.mockRestore();
});

/** A queue that knows one event in a state. */
function createQueueWith(state: string, failures: EventStatus["failures"] = []) {
  const queue = createMemoryQueue(["boom"]);
  const status = { state, event: undefined, attempts: 3, at: new Date(5_000), failures };
  const find = jest.fn(async (..._args: unknown[]) => status as EventStatus);
  return { ...queue, find };
}

describe("GET /console/requests/:id", () => {
  const readDetails = async (app: ConsoleApp, number: number) =>
    (await app.call(`/requests/${await idOf(app, number)}`)).body as RequestDetails;

  it.each([
    [false, "jan…com", expect.any(String), expect.stringMatching(/^\(\d+ characters\)$/)],
    [true, JANE, undefined, expect.stringMatching(/^\{/)],
  ])(
    "has the parameters, with reveal %s, and the headers without the signature; no parameters of a request that was not authenticated, or is large",
    async (...row) => {
      const [reveal, entity, pseudonym, factor_metadata] = row;
      const app = await startConsole({ router: { console: { reveal } } });
      await app.deliver(approve, { entity_identity: JANE });
      const { params, ...details } = await readDetails(app, 1);
      const sids = { account_sid: ACCOUNT_SID, challenge_sid: CHALLENGE_SID };
      const shown = { type: approve, ...sids, entity_identity: entity, factor_metadata };
      expect(Object.fromEntries(params ?? [])).toMatchObject(shown);
      const names = details.headers.map(([name]) => name);
      expect(names).toEqual(expect.arrayContaining(["host", "content-type", "content-length"]));
      expect(names).not.toContain("x-service-signature");
      expect(details).toEqual({ headers: details.headers, responseHeaders: [] });
      const { rows } = await readRequests(app);
      expect({ entity: rows[0]?.entity, pseudonym: rows[0]?.pseudonym }).toEqual({
        entity,
        pseudonym,
      });
      expect(JSON.stringify([params, details, rows]).includes(JANE)).toBe(reveal);
      await app.deliver(approve, {}, WRONG);
      await app.deliver(approve, { challenge_details: "x".repeat(20_000) });
      for (const id of [2, 3]) expect(await readDetails(app, id)).not.toHaveProperty("params");
      const after = (await readRequests(app)).rows;
      expect(after.map(({ canResend }) => canResend)).toEqual([true, false, false]);
    },
  );

  it("asks the queue where the event is, and masks the error of each attempt", async () => {
    const run = { durationMs: 12, process: "4711 on web-1" };
    const queue = createQueueWith("delayed", [
      { at: new Date(2_000), error: "HANDLER_FAILED: ECONNREFUSED", ...run },
      { at: new Date(4_000), error: `HANDLER_FAILED: no user ${JANE}` },
    ] as EventStatus["failures"]);
    const app = await startConsole({ router: { queue } });
    await app.deliver(approve, { uuid: "evt-1", entity_identity: JANE });
    const failures = [
      { atMs: 2_000, error: "HANDLER_FAILED: ECONNREFUSED", ...run },
      { atMs: 4_000, error: "HANDLER_FAILED: no user <entity_identity>" },
    ];
    const queued = { state: "delayed", attempts: 3, failures, atMs: 5_000 };
    expect(await readDetails(app, 1)).toMatchObject({ queued });
    expect(queue.find.mock.calls).toEqual([["evt-1", { accountSid: ACCOUNT_SID }]]);
  });
});

const failure = "HANDLER_FAILED: no user <entity_identity>";
const message = "Attempt 3 failed: its event will run again.";
it.each<[state: string, attempts: number, row: object]>([
  ["waiting", 0, { result: "stored", message: "Its event is waiting." }],
  ["delayed", 1, { result: "stored", message, failure }],
  ["dead", 1, { result: "failed", status: 200 }],
  ["discarded", 0, { result: "failed", message: "Its event is discarded.", canResend: false }],
  ["handled", 1, { result: "handled" }],
])("a stored event is %s as in its queue, and counts as stored", async (state, attempts, row) => {
  const failed = { at: new Date(2_000), error: `HANDLER_FAILED: no user ${JANE}` };
  const queue = createQueueWith(state, Array(attempts).fill(failed) as never);
  const store = { ...queue, store: () => Promise.resolve("new"), outcomes: {} };
  const app = await startConsole({ router: { queue }, receiver: { queue: store as never } });
  await app.deliver(approve, { entity_identity: JANE });
  await readRequests(app);
  const { rows, totals } = await readRequests(app);
  expect(rows).toMatchObject([row]);
  expect(totals.byResult).toMatchObject({ stored: 1, handled: 0, failed: 0 });
});

describe("POST /console/search", () => {
  it("finds a login by a pseudonym, a rejected request by its claims, and another challenge with its user", async () => {
    const app = await startConsole();
    for (const entity_identity of [ADA, JANE, ADA]) await app.deliver(approve, { entity_identity });
    await app.deliver(approve, { uuid: "b", challenge_sid: OTHER_SID }, WRONG);
    const { rows } = await readRequests(app);
    const [ada, jane, again, rejected] = rows.map(({ id }) => id);
    for (const [text, ids] of [
      [rows[0]?.pseudonym, [ada, again]],
      [rows[1]?.pseudonym, [jane]],
      ["b", [rejected]],
      [OTHER_SID, [rejected]],
      [`YC${"8".repeat(32)} ${ADA}`, []],
    ]) {
      expect([text, (await app.call("/search", { text })).body.ids]).toEqual([text, ids]);
    }
    const path = new RegExp(`/Entities/${ADA}/Challenges/YC8{32}$`);
    expect(app.upstream.seen.at(-1)).toMatch(path);
  });

  it.each([ADA, CHALLENGE_SID])("finds a login by %s, and asks the service", async (text) => {
    const app = await startConsole({ router: { readOnly: true } });
    const key = { challengeSid: CHALLENGE_SID, entityIdentity: ADA };
    const closing = { code: "CLOSING" };
    const waiting = expect(app.push.waitForChallenge(key)).rejects.toMatchObject(closing);
    const { totals, waits: listed } = await readRequests(app);
    expect(totals.waits).toEqual({ count: 1, oldestMs: expect.any(Number) });
    expect(totals.waits.oldestMs).toBeLessThan(600_000);
    await app.deliver("factor.created", { entity_identity: "another" });
    await app.deliver("challenge.denied", { entity_identity: ADA, challenge_sid: OTHER_SID });
    const { body } = await app.call("/search", { text });
    const startedAtMs = expect.any(Number);
    const waits = [{ challengeSid: CHALLENGE_SID, entity: "us…22", startedAtMs }];
    expect(body).toMatchObject({
      process: (await readRequests(app)).process,
      ids: text === ADA ? [await idOf(app, 2)] : [],
      deadLetters: [],
      waits,
      challenge: { challengeSid: CHALLENGE_SID, problem: "NOT_FOUND" },
    });
    expect(listed).toEqual(waits);
    expect(app.audits).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(ADA);
    await Promise.all([waiting, app.push.close()]);
  });
});

it("the rows keep no body", async () => {
  const limitBytes = 2 ** 20;
  const app = await startConsole({ receiver: { limitBytes } });
  const deliver = async (index: number, authToken?: string) => {
    const sids = { challenge_sid: `YC${String(index).padStart(32, "0")}` };
    const tag = `${index} ${"x".repeat(500_000)}`;
    const wrong = authToken === undefined ? {} : { authToken };
    return app.deliver(approve, { ...sids, uuid: `evt-of-a-large-body-${index}`, tag }, wrong);
  };
  await deliver(0);
  const before = measureHeap();
  for (let index = 1; index <= 100; index++) {
    expect(await deliver(index)).toBe(200);
    expect(await deliver(index, "another")).toBe(403);
  }
  // Of these 100 MB, the bodies of ten can be explained.
  expect(measureHeap() - before).toBeLessThan(60e6);
  await app.deliver();
});

describe("POST /console/requests/:id/resend", () => {
  const resend = async (app: ConsoleApp, number: number) =>
    app.call(`/requests/${await idOf(app, number)}/resend`, {});

  it.each<[code: string, options: Partial<PushWebhooksOptions>]>([
    ["NOT_CONFIRMED", { confirm: () => false }],
    ["PAYLOAD_AMBIGUOUS", {}],
  ])("runs no event that was rejected: %s", async (code, options) => {
    const app = await startConsole({ receiver: options });
    const handler = jest.fn();
    app.push.onAny(handler);
    await app.deliver(approve, { challenge_hidden_details: "AccountSid=" });
    expect((await readRequests(app)).rows).toMatchObject([{ code, canResend: false }]);
    expect((await resend(app, 1)).body).toMatchObject({ problem: expect.any(String) });
    expect(handler).not.toHaveBeenCalled();
  });

  it("runs the handlers again, but for a conflict or another process, and asks confirm again", async () => {
    let isTrue = true;
    const asked: string[] = [];
    const confirm = ({ type }: PushEvent) => asked.push(type) > 0 && isTrue;
    const app = await startConsole({ receiver: { confirm } });
    const handled: string[] = [];
    app.push.onAny(({ type }) => void handled.push(type));
    await app.deliver(approve, { uuid: "a" });
    await app.deliver("challenge.denied", { uuid: "a" });
    const other = "/requests/ffff0000-1";
    for (const [path, body] of [[other], [`${other}/resend`, {}], ["/requests/1"]] as const) {
      const rejected = { status: 409, body: { code: "ANOTHER_PROCESS" } };
      expect(await app.call(path, body)).toMatchObject(rejected);
    }
    const again = { atMs: expect.any(Number), by: "alice" };
    expect(await resend(app, 1)).toEqual({ status: 200, body: again });
    expect(app.audits).toMatchObject([{ action: "request.resend", uuid: "a" }]);
    expect((await readRequests(app)).rows).toMatchObject([{ resent: again }, {}]);
    isTrue = false;
    expect((await resend(app, 1)).body).toMatchObject({ problem: "NOT_CONFIRMED" });
    expect((await resend(app, 2)).body).toMatchObject({ problem: "Its event was not accepted." });
    expect({ asked, handled }).toEqual({
      asked: Array(3).fill(approve),
      handled: Array(2).fill(approve),
    });
    const [succeeded, refused, dropped] = app.audits;
    expect(succeeded).toMatchObject({ status: 200, code: undefined });
    expect(refused).toMatchObject({ status: 200, code: "NOT_CONFIRMED", uuid: "a" });
    expect(dropped).toMatchObject({ code: "Its event was not accepted." });
  });

  it("does not run the handlers for content that a dedupe store calls done", async () => {
    const memory = createMemoryDedupe();
    const claim: DedupeStore["claim"] = async (one) => {
      const found = await memory.claim(one);
      return found === "conflict" ? "done" : found;
    };
    const app = await startConsole({ receiver: { dedupe: { ...memory, claim } } });
    const handled: string[] = [];
    app.push.onAny(({ type }) => void handled.push(type));
    await app.deliver("challenge.denied", { uuid: "a" });
    await app.deliver(approve, { uuid: "a" });
    const rows = [{ canResend: true }, { result: "duplicate", canResend: false }];
    expect((await readRequests(app)).rows).toMatchObject(rows);
    expect((await resend(app, 2)).body.problem).toBeDefined();
    expect(handled).toEqual(["challenge.denied"]);
  });

  it("names its problem", async () => {
    const app = await startConsole();
    app.push.on("challenge.denied", () => {
      throw new Error("boom");
    });
    await app.deliver("challenge.denied");
    await app.deliver();
    await app.deliver(approve, {}, WRONG);
    for (const [index, problem] of ["HANDLER_FAILED", "No handler", "not in memory"].entries()) {
      const { body } = await resend(app, index + 1);
      expect(body.problem).toContain(problem);
      expect(app.audits.at(-1)).toMatchObject({ code: body.problem });
    }
    expect(await resend(app, 4)).toHaveProperty("status", 404);
  });

  it.each([
    ["dead", ["retry evt-1"], undefined],
    ["delayed", [], expect.stringContaining("delayed")],
    ["discarded", [], "Its event was discarded."],
  ])("leaves an event that is %s to the queue", async (state, changes, problem) => {
    const queue = createQueueWith(state);
    const retry = async (uuid: string) => queue.changes.push(`retry ${uuid}`) > 0;
    const app = await startConsole({ router: { queue: { ...queue, retry } } });
    const handler = jest.fn();
    app.push.onAny(handler);
    await app.deliver(approve, { uuid: "evt-1" });
    expect((await resend(app, 1)).body.problem).toEqual(problem);
    expect(queue.changes).toEqual(changes);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it("says that an event has failed again, also in the queue", async () => {
    const failed = { error: "HANDLER_FAILED: down", durationMs: 1, process: undefined };
    const failures = [{ ...failed, at: new Date(2_000) }];
    const queue = createQueueWith("dead", failures);
    const store = { ...queue, store: () => Promise.resolve("new"), outcomes: {} };
    const retry = () => Promise.resolve(true);
    const shown = { router: { queue: { ...queue, retry } }, receiver: { queue: store as never } };
    const app = await startConsole(shown);
    await app.deliver();
    expect((await resend(app, 1)).body.problem).toBeUndefined();
    failures.push({ ...failed, at: new Date(Date.now() + 1_000) });
    await readRequests(app);
    await until(async () => (await readRequests(app)).rows[0]?.resent?.problem !== undefined);
    expect((await readRequests(app)).rows).toMatchObject([{ result: "failed" }]);
  });
});
