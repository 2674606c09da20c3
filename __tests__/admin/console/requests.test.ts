/** The history of a receiver, as a console tells of it to its page. */
import { eventFixture } from "express-push-verification/testing";
import type { EventStatus } from "../../../lib/durable";
import type { Journal, NewEntry } from "../../../lib/core/journal/journal";
import type { LoginSearch } from "../../../lib/admin/console/find-login";
import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import type { ShownHistory } from "../../../lib/admin/console/shown-history";
import { measureHeap } from "../../support/heap";
import { until } from "../../support/waiting";
import { ACCOUNT_SID, CHALLENGE_SID, FACTOR_SID } from "../../support/webhook-requests";
import {
  readRows,
  readShown,
  readView,
  startConsole,
  useConsoles,
  type ConsoleApp,
} from "./console-app";
import { createMemoryQueue, createSharedJournal, storeDown, storeIn } from "./memory-queue";

useConsoles();

const JANE = "jane.doe@example.com";
const OTHER_SID = `YC${"7".repeat(32)}`;
const ADA = "user-7f3a-22";
const OTHER_ACCOUNT = `AC${"7".repeat(32)}`;
const WRONG = { authToken: "another" };
const approve = "challenge.approved";
const MINUTE_MS = 60_000;

/** A console of a queue with a journal, and what appends a step of the event "a". */
async function startShared(find?: object) {
  const journal = createSharedJournal();
  const status: ConsoleQueue["find"] = async (_uuid, { accountSid, receiver } = {}) =>
    accountSid === ACCOUNT_SID && receiver === "shop" ? (find as EventStatus) : undefined;
  const queue = { ...createMemoryQueue([]), journal, find: status };
  const app = await startConsole(storeIn(queue, { name: "shop" }));
  function step(what: string, others: object = {}): void {
    const common = { kind: "step", atMs: Date.now() + 1, uuid: "a", accountSid: ACCOUNT_SID };
    journal.append({ ...common, what, share: "", ...others } as NewEntry);
  }
  return { app, queue, journal, step };
}

function sumBars(bars: ShownHistory["bars"]): [accepted: number, bad: number] {
  const sum = (name: "accepted" | "bad") => bars.reduce((total, bar) => total + bar[name], 0);
  return [sum("accepted"), sum("bad")];
}

describe("POST /console/view", () => {
  it("has each request and the totals", async () => {
    const app = await startConsole({ receiver: { name: "shop" } });
    await app.deliver(approve, { uuid: "a" });
    await app.deliver(approve, { uuid: "b", account_sid: FACTOR_SID }, WRONG);
    await app.deliver("factor.created");
    const view = await readView(app);
    expect(view).toMatchObject({ process: expect.stringMatching(/^\d+ on ./) });
    const { rows, found, totals, ...shown } = await readShown(app);
    expect(found).toBe(3);
    expect(shown).toMatchObject({ isShared: false, dropped: 0, changes: [] });
    const sids = { factorSid: FACTOR_SID, challengeSid: CHALLENGE_SID };
    const user = { entity: "us…22", person: expect.stringMatching(/^[0-9a-f]{8}$/) };
    const common = {
      ...sids,
      ...user,
      receiver: "shop",
      process: view.process,
      attempt: 1,
      issues: [],
      id: expect.any(String),
      atMs: expect.any(Number),
      durationMs: expect.any(Number),
      target: "POST /webhooks/push",
      sender: { address: "127.0.0.1", userAgent: "node" },
    };
    expect(rows[2]).toEqual({
      ...common,
      state: "handled",
      status: 200,
      isAuthenticated: true,
      type: approve,
      version: "v2",
      uuid: "a",
      accountSid: ACCOUNT_SID,
      tokenIndex: 0,
      urlIndex: 0,
      canResend: true,
    });
    expect(rows[1]).toEqual({
      ...common,
      state: "rejected",
      status: 403,
      uuid: "b",
      code: "SIGNATURE_MISMATCH",
      message: expect.any(String),
      isAuthenticated: false,
      explanation: expect.objectContaining({ code: "TOKEN_WRONG" }),
      canResend: false,
    });
    // A clock that was corrected meanwhile differs.
    expect(Math.abs((rows[0]?.atMs ?? 0) - Date.now())).toBeLessThan(600_000);
    expect(totals).toEqual({
      received: 3,
      byResult: { handled: 2, stored: 0, duplicate: 0, conflict: 0, rejected: 1, failed: 0 },
      byCode: { SIGNATURE_MISMATCH: 1 },
      failedAttempts: 0,
      rejections: [
        {
          code: "SIGNATURE_MISMATCH",
          count: 1,
          lately: 1,
          firstAtMs: expect.any(Number),
          lastAtMs: rows[1]?.atMs,
          sources: [{ ...common.sender, count: 1, lastAtMs: rows[1]?.atMs }],
        },
      ],
      rotation: [],
    });
  });

  it("has nothing while nothing has changed since the position of the page", async () => {
    const app = await startConsole();
    await app.deliver();
    const { position } = await readView(app);
    expect(await readView(app, {}, position)).toMatchObject({ position });
    expect(await readView(app, {}, position)).not.toHaveProperty("shown");
    expect(await readView(app, { code: "X" }, position)).toHaveProperty("shown");
    await app.deliver();
    expect(await readView(app, {}, position)).toHaveProperty("shown");
  });

  it("has the newest 200 of all requests that a filter finds", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "again" });
    await app.deliver("challenge.denied", { uuid: "again" });
    await app.deliver(approve, { uuid: "again" });
    await app.deliver(approve, { uuid: "again" }, WRONG);
    for (let count = 0; count < 200; count++) await app.deliver();
    const { rows, found } = await readShown(app);
    expect(rows).toHaveLength(200);
    expect(found).toBe(204);
    const again = await readRows(app, { text: "again" });
    expect(again.map(({ attempt, state }) => `${attempt} ${state}`)).toEqual([
      "1 handled",
      "2 conflict",
      "3 duplicate",
      "1 rejected",
    ]);
  });

  it("selects by each field of a filter", async () => {
    process.env.PUSH_BUILD = "7c1";
    const app = await startConsole();
    app.push.on("challenge.denied", () => {
      throw new Error("down");
    });
    await app.deliver(approve, { uuid: "a" });
    await app.deliver("challenge.denied", { uuid: "b", entity_identity: JANE });
    delete process.env.PUSH_BUILD;
    await app.deliver(approve, { uuid: "c", challenge_sid: OTHER_SID }, WRONG);
    const rows = await readRows(app);
    const [a, b] = rows;
    for (const [filter, uuids] of [
      [{}, "abc"],
      [{ state: "bad" }, "bc"],
      [{ state: "accepted" }, "a"],
      [{ state: "failed" }, "b"],
      [{ code: "HANDLER_FAILED" }, "b"],
      [{ type: approve }, "a"],
      [{ build: "7c1" }, "ab"],
      [{ fromMs: a?.atMs, toMs: (a?.atMs ?? 0) + 1, state: "handled" }, "a"],
      [{ toMs: a?.atMs }, ""],
      [{ text: ` ${JANE} ` }, "b"],
      [{ text: "jane" }, ""],
      [{ text: b?.person ?? "" }, "b"],
      [{ text: OTHER_SID.toLowerCase() }, "c"],
      [{ text: `${OTHER_SID} ${ADA}` }, "c"],
      [{ text: "/webhooks" }, "abc"],
      [{ text: ACCOUNT_SID }, "abc"],
      ...(["stored", "failing", "dead", "discarded", "duplicate", "conflict"] as const).map(
        (state) => [{ state }, ""] as const,
      ),
      [{ state: "rejected" }, "c"],
    ] as const) {
      const found = (await readRows(app, filter)).map(({ uuid }) => uuid).join("");
      expect({ filter, found }).toEqual({ filter, found: uuids });
    }
    expect((await readShown(app)).builds).toMatchObject([{ build: "7c1" }]);
    expect(await app.call("/view", { filter: { state: "unknown" } })).toHaveProperty("status", 400);
  });

  it("says that handlers failed after the response", async () => {
    const app = await startConsole({ receiver: { acknowledge: "before" } });
    let fail: (error: Error) => void = () => {};
    app.push.onAny(() => new Promise((_resolve, reject) => (fail = reject)));
    await app.deliver();
    expect(await readRows(app)).toMatchObject([{ state: "handled" }]);
    fail(new Error(`${ADA} is away`));
    await until(async () => (await readRows(app, { state: "failed" })).length === 1);
    const { rows, totals, bars } = await readShown(app);
    expect(rows).toMatchObject([{ status: 200, failure: "<entity_identity> is away" }]);
    expect(totals).toMatchObject({ received: 1, failedAttempts: 1 });
    expect(sumBars(bars)).toEqual([1, 1]);
  });

  it("counts requests by the quarter of an hour for a day", async () => {
    const app = await startConsole();
    await app.deliver();
    await app.deliver(approve, {}, WRONG);
    const nowMs = Date.now();
    const now = jest.spyOn(Date, "now");
    for (const [minutes, count] of [
      [0, 1],
      [1_420, 1],
      [1_500, 0],
    ] as const) {
      now.mockReturnValue(nowMs + minutes * MINUTE_MS);
      const { bars } = await readShown(app);
      expect(bars).toHaveLength(96);
      expect({ minutes, sums: sumBars(bars) }).toEqual({ minutes, sums: [count, count] });
    }
    now.mockRestore();
  });

  it("groups rejections by sender and by cause", async () => {
    const app = await startConsole();
    // On a busy machine the work of three explanations would exceed the receiver's budget.
    const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const reject = (agent: string, sending: object = WRONG) =>
      app.deliver(approve, {}, { ...sending, headers: { "User-Agent": agent } });
    process.env.PUSH_BUILD = "7c1";
    await reject("a");
    delete process.env.PUSH_BUILD;
    for (const agent of "bcdef") await reject(agent);
    for (let count = 0; count < 3; count++) await reject("a");
    now.mockReturnValue(performance.now() + 61_000);
    for (let count = 0; count < 3; count++)
      await reject("wrong URL", { signedUrl: `${app.publicUrl}/` });
    const { rows, totals, causes } = await readShown(app);
    const senders = totals.rejections[0]?.sources.map(({ userAgent, count }) => [userAgent, count]);
    expect(senders).toEqual([
      ["wrong URL", 3],
      ["a", 4],
      ["f", 1],
      ["e", 1],
      ["d", 1],
    ]);
    const found = causes.map(({ explanation, count, alike }) => [
      explanation?.isProven,
      count,
      alike,
    ]);
    expect(found).toEqual([
      [true, 1, 2],
      [false, 3, 3],
      [undefined, 3, 0],
    ]);
    const [newest, , first] = rows.slice(9);
    const { id } = newest ?? {};
    expect(causes[1]).toMatchObject({ id, firstAtMs: first?.atMs, firstBuild: "7c1" });
    now.mockRestore();
  });
});

it("the rotation has the last 10 accounts with 16 tokens each", async () => {
  const accounts = Array.from({ length: 12 }, (_, index) => `AC${String(index).padStart(32, "0")}`);
  const tokens = Array.from({ length: 17 }, (_, index) => `token-${index}-of-the-account`);
  const app = await startConsole({ receiver: { authToken: () => tokens } });
  const deliver = (account_sid: string, index: number) =>
    app.deliver(approve, { account_sid }, { authToken: tokens[index] ?? "" });
  await deliver(ACCOUNT_SID, 0);
  for (const account of accounts.slice(0, -1)) await deliver(account, 1);
  for (const index of [15, 16]) await deliver(accounts.at(-1) ?? "", index);
  const { rotation } = (await readShown(app)).totals;
  expect(rotation.map(({ accountSid }) => accountSid)).toEqual(accounts.slice(2));
  expect(rotation.map((account) => account.tokens.length)).toEqual([...Array(9).fill(2), 16]);
});

describe("a history that processes share", () => {
  const dead = { attempt: 8, error: "down" };
  it.each<[state: string, steps: [string, object?][], row: object]>([
    ["stored", [], {}],
    [
      "handled",
      [
        ["failed", { durationMs: 5 }],
        ["handled", { durationMs: 12 }],
      ],
      { handlersMs: 12 },
    ],
    ["failing", [["failed", { attempt: 1, error: "down" }]], { failure: "down", canResend: false }],
    ["dead", [["failed"], ["dead", dead]], { failure: "down", canResend: true }],
    [
      "discarded",
      [
        ["dead", dead],
        ["discarded", { by: "eve" }],
      ],
      { canResend: false, message: "eve discarded its event." },
    ],
    [
      "stored",
      [
        ["dead", dead],
        ["retried", { by: "eve" }],
      ],
      { resent: { what: "retried", by: "eve" } },
    ],
    ["dead", [["retried"], ["dead", dead]], { resent: { problem: "It failed again." } }],
    [
      "stored",
      [["dead", dead], ["retried"]],
      { resent: expect.not.objectContaining({ problem: expect.anything() }) },
    ],
  ])("says that a stored event is %s after %j", async (state, steps, row) => {
    const { app, step } = await startShared();
    await app.deliver(approve, { uuid: "a" });
    const nowMs = Date.now();
    for (const [index, [what, others]] of [...steps.entries()].toReversed()) {
      step(what, { atMs: nowMs + 10 + index, ...others });
    }
    const { isShared, rows, totals } = await readShown(app);
    expect(isShared).toBe(true);
    expect(rows).toMatchObject([{ state, status: 200, ...row }]);
    expect(totals.byResult).toMatchObject({ stored: 1, handled: 0 });
  });

  it("takes no step for that of an unverified request", async () => {
    const { app, step } = await startShared({ state: "dead", attempts: 8 });
    await app.deliver(approve, { uuid: "a" }, WRONG);
    step("dead", dead);
    const [row] = await readRows(app);
    expect(row).toMatchObject({ state: "rejected", canResend: false });
    const { open } = await readView(app, {}, undefined, row?.id);
    expect(open).toEqual({ row, steps: [] });
  });

  it("is read from the start again only after an erasure", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const { app, journal } = await startShared();
    const read = jest.spyOn(journal, "read");
    for (let polls = 0; polls < 3; polls++) await readView(app);
    expect(read).toHaveBeenCalledTimes(1);
    now.mockReturnValue(performance.now() + 1_500);
    const change = { kind: "change", atMs: Date.now(), status: 200, share: "" } as const;
    journal.append({ ...change, action: "user-data.erase" });
    expect((await readShown(app)).changes).toMatchObject([{ action: "user-data.erase" }]);
    now.mockReturnValue(performance.now() + 1_500);
    await readView(app);
    const positions = read.mock.calls.map(([after]) => after === undefined);
    expect(positions).toEqual([true, false, true, false]);
    now.mockRestore();
  });

  it.each([
    ["accepted", {}],
    ["rejected", WRONG],
  ] as const)("keeps the last request of each account among 2,000 %s ones", async (state, sent) => {
    const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
    const { app, journal } = await startShared();
    const ofOther = { account_sid: OTHER_ACCOUNT };
    // Of an unknown account, what is rejected has no share.
    await app.deliver(approve, ofOther);
    await app.deliver(approve, { uuid: "first", ...ofOther }, sent);
    await app.deliver(approve, {}, sent);
    const like = (await journal.read()).entries.at(-1) as unknown as NewEntry;
    for (let index = 0; index < 3; index++) {
      for (let count = 0; count < 999; count++) journal.append({ ...like, share: "" });
      now.mockReturnValue(performance.now() + 1_500);
      await readView(app);
    }
    expect((await readShown(app, { state })).found).toBe(2_000);
    expect(await readRows(app, { text: "first" })).toHaveLength(1);
    now.mockRestore();
  });

  it("responds 503 STORE_UNAVAILABLE while the store is down", async () => {
    const { app, journal } = await startShared();
    const read = jest.spyOn(journal, "read").mockRejectedValue(storeDown);
    const failed = { status: 503, body: { code: "STORE_UNAVAILABLE" } };
    expect(await app.call("/view", { filter: {} })).toMatchObject(failed);
    read.mockRestore();
    expect(await app.call("/view", { filter: {} })).toHaveProperty("status", 200);
  });

  it("has the writes of people who may write", async () => {
    const { app } = await startShared();
    const retry = "/dead-letters/retry";
    await app.call(retry, {});
    await app.call(retry, { uuid: "a", accountSid: ACCOUNT_SID });
    const headers = { "Content-Type": "application/json", Origin: "https://evil.example" };
    await fetch(`${app.url}console${retry}`, { method: "POST", headers, body: "{}" });
    const common = { action: "dead-letter.retry", by: "alice" };
    expect((await readShown(app)).changes).toMatchObject([
      { ...common, status: 200, uuid: "a" },
      { ...common, status: 400 },
    ]);
  });

  it("sums what was dropped", async () => {
    const { app, journal } = await startShared();
    journal.count("dropped", "dropped");
    expect(await readShown(app)).toHaveProperty("dropped", 2);
  });

  it("has the start of each build", async () => {
    const { app, journal } = await startShared();
    const nowMs = Date.now();
    for (const [build, laterMs] of Object.entries({ a1: 1, a2: 2, a4: 4, b3: 3 })) {
      process.env.PUSH_BUILD = build[0];
      journal.append({ kind: "start", atMs: nowMs + laterMs, share: "" });
    }
    delete process.env.PUSH_BUILD;
    const { builds } = await readShown(app);
    expect(builds.map(({ build }) => build)).toEqual([undefined, "a", "b", "a"]);
  });
});

describe("the open request of POST /console/view", () => {
  it("has the row, steps and state of its event", async () => {
    const { app, step } = await startShared({ state: "delayed", attempts: 3, at: new Date(5_000) });
    await app.deliver(approve, { uuid: "a" });
    step("failed", { attempt: 3, durationMs: 7, error: "down" });
    const [row] = await readRows(app);
    const { open } = await readView(app, { code: "none" }, undefined, row?.id);
    expect(open).toEqual({
      row,
      steps: [
        {
          kind: "step",
          what: "failed",
          uuid: "a",
          accountSid: ACCOUNT_SID,
          attempt: 3,
          durationMs: 7,
          error: "down",
          share: "",
          atMs: expect.any(Number),
          process: expect.stringMatching(" on "),
        },
      ],
      queued: { state: "delayed", attempts: 3, atMs: 5_000 },
    });
    expect(await readView(app, {}, undefined, "unknown-1")).toHaveProperty("open", null);
  });
});

describe("POST /console/search", () => {
  const search = async (app: ConsoleApp, text: string) =>
    (await app.call("/search", { text })).body as LoginSearch;

  it("asks the service for the challenge of a rejected request", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "b", challenge_sid: OTHER_SID }, WRONG);
    const found = { challengeSid: OTHER_SID, problem: "NOT_FOUND", requests: 1, bad: 1 };
    expect(await search(app, ADA)).toMatchObject({ found: 1, challenges: [found] });
    expect(app.upstream.seen.at(-1)).toContain(`/Entities/${ADA}/Challenges/${OTHER_SID}`);
    const problem = "NOT_ASKED";
    const unasked = { found: 1, problem, challenges: [{ ...found, problem }] };
    expect(await search(app, OTHER_SID)).toMatchObject(unasked);
    expect(await search(app, `${OTHER_SID} ${JANE}`)).toMatchObject({ found: 1 });
    expect(app.upstream.seen.at(-1)).toContain(`/Entities/${encodeURIComponent(JANE)}/`);
    const nothing = { found: 0, deadLetters: [], waits: [], challenges: [] };
    expect(await search(app, "nobody")).toMatchObject({ ...nothing, problem: "NOT_FOUND" });
  });

  it("asks the service for the challenge of an accepted request", async () => {
    const { app: shared } = await startShared({ event: eventFixture(approve) });
    for (const app of [await startConsole(), shared]) {
      await app.deliver(approve, { uuid: "a" });
      const challenges = [{ problem: "NOT_FOUND" }];
      expect(await search(app, CHALLENGE_SID)).toMatchObject({ challenges });
    }
  });

  it.each([ADA, CHALLENGE_SID])("finds the request and the wait of a login by %s", async (text) => {
    const isAda = text === ADA;
    const router = { readOnly: true, console: { reveal: !isAda } };
    const app = await startConsole({ router });
    const key = { challengeSid: CHALLENGE_SID, entityIdentity: ADA };
    const closing = { code: "CLOSING" };
    const waiting = expect(app.push.waitForChallenge(key)).rejects.toMatchObject(closing);
    const entity = isAda ? "us…22" : ADA;
    const waits = [{ challengeSid: CHALLENGE_SID, entity, startedAtMs: expect.any(Number) }];
    await app.deliver("challenge.denied", { uuid: "a", challenge_sid: OTHER_SID });
    const found = await search(app, text);
    expect(found).toMatchObject({ found: isAda ? 1 : 0, deadLetters: [], waits });
    const asked = found.challenges.map(({ challengeSid, problem }) => [challengeSid, problem]);
    const wait = [CHALLENGE_SID, "NOT_FOUND"];
    expect(asked).toEqual(isAda ? [[OTHER_SID, "NOT_FOUND"], wait] : [wait]);
    expect(app.audits).toEqual([]);
    expect(JSON.stringify(found).includes(ADA)).toBe(!isAda);
    await Promise.all([waiting, app.push.close()]);
  });

  it("asks the service for the newest challenges of an unknown identity", async () => {
    const app = await startConsole();
    const sids = ["a", "b", "c", "d"].map(() => app.upstream.createChallenge(JANE));
    const { found, challenges } = await search(app, JANE);
    const newest = sids.slice(1).toReversed();
    const shown = newest.map((challengeSid) => ({ challengeSid, status: "pending", requests: 0 }));
    expect(found).toBe(0);
    expect(challenges).toMatchObject(shown);
    app.upstream.script.push({ status: 500 });
    expect(await search(app, JANE)).toMatchObject({ challenges: [], problem: "SERVICE_ERROR" });
  });

  it("hides nothing of a user behind 200 requests that claim the identity", async () => {
    const app = await startConsole();
    await app.deliver(approve, { uuid: "genuine" });
    for (let index = 0; index < 200; index++) {
      const challenge_sid = `YC${String(index).padStart(32, "0")}`;
      await app.deliver(approve, { uuid: `forged-${index}`, challenge_sid }, WRONG);
    }
    const { rows, found } = await readShown(app, { text: ADA });
    expect(found).toBe(201);
    expect(rows).toHaveLength(101);
    expect(rows.at(-1)).toHaveProperty("uuid", "genuine");
    expect((await readShown(app)).rows).toHaveLength(200);
    const { challenges } = await search(app, ADA);
    const sids = challenges.map(({ challengeSid }) => challengeSid);
    expect(sids).toHaveLength(4);
    expect(sids.at(-1)).toBe(CHALLENGE_SID);
  });

  it("finds dead letters by all that names them", async () => {
    const factor_sid = `YF${"7".repeat(32)}`;
    const names = { entity_identity: JANE, uuid: "uuid-0", factor_sid };
    const event = eventFixture("challenge.denied", names);
    const other = eventFixture("factor.created");
    const others = Array<typeof other>(21).fill(other);
    const queue = createMemoryQueue(Array<string>(22).fill("down"), {}, [event, ...others]);
    const app = await startConsole(storeIn(queue));
    const person = await (queue.journal as Journal).createPseudonym(JANE);
    for (const text of [JANE, "uuid-0", person, event.challenge_sid, factor_sid]) {
      const { deadLetters, challenges } = await search(app, text);
      const found = [{ uuid: "uuid-0", entity: "jan…com" }];
      expect({ text, deadLetters }).toMatchObject({ text, deadLetters: found });
      expect(challenges).toMatchObject([
        { challengeSid: event.challenge_sid, problem: "NOT_FOUND" },
      ]);
    }
    const { deadLetters } = await search(app, ADA);
    expect(deadLetters).toHaveLength(20);
    expect(deadLetters[0]).toHaveProperty("uuid", "uuid-21");
  });
});

it("large requests leave no body in memory", async () => {
  const app = await startConsole({ receiver: { limitBytes: 2 ** 20 + 1_000 } });
  const tag = "x".repeat(2 ** 20 - 1_000);
  const deliver = (uuid: string, sending: object = {}) =>
    app.deliver(approve, { uuid: `evt-of-a-large-body-${uuid}`, tag }, sending);
  await deliver("0", WRONG);
  const before = measureHeap();
  for (let index = 1; index <= 30; index++) {
    expect(await deliver(`${index}`, WRONG)).toBe(403);
    if (index % 10 === 0) expect(await deliver(`good-${index}`)).toBe(200);
  }
  await readView(app);
  // The sockets of the client keep the last bodies for some turns.
  await until(() => measureHeap() - before < 20e6);
  expect((await readShown(app)).found).toBe(34);
});
