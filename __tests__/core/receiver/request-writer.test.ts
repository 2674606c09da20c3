import {
  WebhookError,
  type PushWebhooksOptions,
  type WebhookErrorCode,
} from "express-push-verification";
import type { MemoryJournal } from "../../../lib/core/delivery/memory-journal";
import type { Journal, RequestEntry } from "../../../lib/core/journal/journal";
import { PROCESS_NAME } from "../../../lib/kit/process-name";
import { inspectReceiver } from "../../../lib/core/receiver/inspection";
import { createReceiver } from "../../support/receivers";
import { createGate, nextTurn, until } from "../../support/waiting";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  FACTOR_SID,
  type TestRequest,
} from "../../support/webhook-requests";

afterEach(() => void jest.useRealTimers());

const ADA = "user-7f3a-22";
const WRONG = { authToken: "another" };
const approve = "challenge.approved";
const OTHER_ACCOUNT = `AC${"7".repeat(32)}`;

const fakeClock = () =>
  jest.useFakeTimers({ now: 1_000_000, doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] });

function createWritten(options: Partial<PushWebhooksOptions> = {}) {
  const { push, receive } = createReceiver({ methods: ["POST"], ...options });
  const journal = inspectReceiver(push)?.openJournal() as Journal;
  const readCounts = async () =>
    Object.fromEntries((await journal.readCounts()).map(({ name, count }) => [name, count]));
  async function send(...requests: TestRequest[]) {
    for (const request of requests) await receive(request);
    await nextTurn();
    const { entries } = await journal.read();
    return entries.filter((entry): entry is RequestEntry => "result" in entry);
  }
  return { push, journal, send, readCounts };
}

it("writes what each kind of request may show without its user", async () => {
  const { push, send, journal, readCounts } = createWritten();
  push.on("challenge.denied", () => {
    throw new Error(`no such user ${ADA}`);
  });
  const swapped = `factor_sid=${CHALLENGE_SID}&challenge_sid=${FACTOR_SID}`;
  const claims = `uuid=g&${swapped}&entity_identity=${"i".repeat(1_001)}`;
  const senders = { "user-agent": "x".repeat(300), "x-forwarded-for": "1".repeat(300) };
  const [accepted, rejected, failed, unread, malformed, odd] = await send(
    eventRequest(approve, { uuid: "a" }),
    eventRequest(approve, { uuid: "u".repeat(200), account_sid: FACTOR_SID }, WRONG),
    eventRequest("challenge.denied", { challenge_details: "{" }),
    { method: "GET", path: `/push?${claims}`, headers: senders, body: "" },
    { ...eventRequest(approve), path: "/", headers: { "x-service-signature": "x" } },
    { method: "M".repeat(30), path: "/push", headers: {}, body: "" },
  );
  const common = {
    id: expect.any(String),
    atMs: expect.any(Number),
    durationMs: expect.any(Number),
    person: expect.stringMatching(/^[0-9a-f]{8}$/),
    process: PROCESS_NAME,
    issues: [],
    factorSid: FACTOR_SID,
    challengeSid: CHALLENGE_SID,
    entity: "us…22",
    target: "POST /push/events",
    sender: {},
  };
  expect(accepted).toEqual({
    ...common,
    kind: "accepted",
    share: expect.stringMatching(/^.{64}$/),
    result: "handled",
    status: 200,
    isAuthenticated: true,
    tokenIndex: 0,
    urlIndex: 0,
    type: approve,
    version: "v2",
    uuid: "a",
    accountSid: ACCOUNT_SID,
  });
  expect(rejected).toEqual({
    ...common,
    kind: "rejected",
    share: "SIGNATURE_MISMATCH ",
    result: "rejected",
    status: 403,
    code: "SIGNATURE_MISMATCH",
    isAuthenticated: false,
    message: expect.any(String),
    uuid: `${"u".repeat(100)}…`,
    explanation: {
      code: "TOKEN_WRONG",
      isProven: false,
      cause: expect.stringMatching(/^Probably: /),
      fix: expect.any(String),
      subject: expect.stringMatching(/^[0-9a-f]{8}$/),
      others: Array(2).fill(expect.any(String)),
    },
  });
  expect(failed).toMatchObject({
    result: "failed",
    status: 500,
    code: "HANDLER_FAILED",
    isAuthenticated: true,
    failure: "no such user <entity_identity>",
    issues: [expect.stringMatching(/^challenge_details: /)],
  });
  const sender = { userAgent: `${"x".repeat(200)}…`, forwardedFor: `${"1".repeat(200)}…` };
  const unknown = { code: "METHOD_NOT_ALLOWED", status: 405 };
  expect(unread).toMatchObject({ ...unknown, uuid: "g", sender });
  expect(Object.keys(unread ?? {}).join()).not.toMatch(/Sid|entity/);
  expect(malformed?.explanation).toMatchObject({ code: "SIGNATURE_MALFORMED" });
  expect(odd).toMatchObject({ ...unknown, target: `${"M".repeat(20)}… /push` });
  expect(accepted?.person).toBe(await journal.createPseudonym(ADA));
  expect(JSON.stringify(await journal.read())).not.toContain(ADA);
  expect(await readCounts()).toEqual({
    "result:handled": 1,
    "result:rejected": 4,
    "result:failed": 1,
    "code:SIGNATURE_MISMATCH": 1,
    "code:HANDLER_FAILED": 1,
    "code:SIGNATURE_MALFORMED": 1,
    "code:METHOD_NOT_ALLOWED": 2,
  });
});

it("explains one wrong signature a minute for each of three senders", async () => {
  const { send } = createWritten();
  // On a busy machine the work of explanations, also of other tests, would exceed a budget.
  const startMs = Math.ceil(performance.now()) + 60_000;
  const now = jest.spyOn(performance, "now");
  const request = eventRequest(approve, {}, WRONG);
  for (const [atMs, agent, path, isExplained] of [
    [0, "a", "/", true],
    [59_999, "a", "/", false],
    [59_999, "b", "/", true],
    [59_999, "b", "/other", true],
    [59_999, "d", "/", false],
    [60_000, "a", "/", true],
  ] as const) {
    now.mockReturnValue(startMs + atMs);
    const headers = { ...request.headers, "user-agent": agent };
    const entry = (await send({ ...request, path, headers })).at(-1);
    expect(entry?.explanation !== undefined).toBe(isExplained);
  }
  now.mockRestore();
});

it("measures a request from its arrival, to a tenth of a millisecond", async () => {
  fakeClock();
  const { push, send } = createWritten();
  push.onAny(() => void jest.advanceTimersByTime(250));
  expect(await send(eventRequest(approve))).toMatchObject([{ atMs: 1_000_000, durationMs: 250 }]);
});

it("notes a failure of the handlers after the response as a step", async () => {
  fakeClock();
  const { push, journal, send, readCounts } = createWritten({ acknowledge: "before" });
  const gate = createGate();
  push.on(approve, () => gate.opened.then(() => Promise.reject(new Error(`${ADA} is away`))));
  expect(await send(eventRequest(approve, { uuid: "a" }))).toMatchObject([{ result: "handled" }]);
  jest.advanceTimersByTime(250);
  gate.open();
  const readSteps = async () =>
    (await journal.read()).entries.filter(({ kind }) => kind === "step");
  await until(async () => (await readSteps()).length > 0);
  expect(await readSteps()).toMatchObject([
    {
      person: expect.any(String),
      share: expect.stringMatching(/^.{64}$/),
      atMs: 1_000_250,
      durationMs: 250,
      attempt: 1,
      what: "failed",
      uuid: "a",
      accountSid: ACCOUNT_SID,
      error: "<entity_identity> is away",
    },
  ]);
  const counts = { "result:handled": 1, "attempt:failed": 1, "code:HANDLER_FAILED": 1 };
  expect(await readCounts()).toEqual(counts);
});

const old = "0".repeat(32);
it.each([[[AUTH_TOKEN, old]], [() => [AUTH_TOKEN, old]]])(
  "counts the tokens of each account where there may be several: %p",
  async (authToken) => {
    const { send, readCounts } = createWritten({ authToken });
    await send(
      eventRequest(approve),
      eventRequest(approve, {}, { authToken: old }),
      eventRequest(approve, { account_sid: OTHER_ACCOUNT }, { authToken: old }),
    );
    expect(await readCounts()).toMatchObject({
      [`token:${ACCOUNT_SID}:0`]: 1,
      [`token:${ACCOUNT_SID}:1`]: 1,
      [`token:${OTHER_ACCOUNT}:1`]: 1,
    });
  },
);

it.each([
  ["accepted", {}, [eventRequest(approve)]],
  ["allowed", { allowedAccountSids: [ACCOUNT_SID] }, []],
])("shares the journal among users, codes and %s accounts", async (_what, options, before) => {
  const { send } = createWritten(options);
  await send(...before);
  const known = eventRequest(approve, {}, WRONG);
  const invented = eventRequest(approve, { account_sid: OTHER_ACCOUNT }, WRONG);
  expect((await send(known, invented)).slice(-2)).toMatchObject([
    { share: `SIGNATURE_MISMATCH ${ACCOUNT_SID}` },
    { share: "SIGNATURE_MISMATCH " },
  ]);
});

it("makes no entry that a full journal would drop", async () => {
  const { journal, send, readCounts } = createWritten();
  journal.isFull = (kind, share) => `${kind} ${share}` === "rejected SIGNATURE_MISMATCH ";
  const request = eventRequest(approve, {}, WRONG);
  expect(await send(request, eventRequest(approve))).toMatchObject([{ kind: "accepted" }]);
  expect(await readCounts()).toMatchObject({ "result:rejected": 1, dropped: 1 });
});

const queue = { store: async () => "new" as const, outcomes: {} as never };

it("writes each request into the journal of the queue", async () => {
  const append = jest.fn();
  const journal = { append, count: () => {} };
  const { push, receive } = createReceiver({ queue: { ...queue, journal: journal as never } });
  expect(inspectReceiver(push)?.openJournal()).toBe(journal);
  const request = eventRequest(approve, {}, WRONG);
  await Promise.all(Array.from({ length: 1_010 }, () => receive(request)));
  await nextTurn();
  expect(append).toHaveBeenCalledTimes(1_010);
});

const claiming = (claimed: string) => ({
  dedupe: {
    claim() {
      if (/^[a-z]/.test(claimed)) return claimed as "new";
      throw new WebhookError(claimed as WebhookErrorCode, "");
    },
    complete() {},
    release() {},
  },
});
it.each([
  [claiming("new"), "handled", true],
  [claiming("done"), "duplicate", false],
  [claiming("conflict"), "conflict", false],
  [claiming("STORE_UNAVAILABLE"), "failed", true],
  [claiming("CONFIRM_UNAVAILABLE"), "failed", true],
  [claiming("OVERLOADED"), "failed", true],
  [claiming("NOT_CONFIRMED"), "rejected", false],
  [{ queue }, "stored", false],
])("with %p writes %s, whose handlers may run again: %p", async (...row) => {
  const [options, result, isKept] = row;
  const { journal, send } = createWritten(options);
  const [entry] = await send(eventRequest(approve, { uuid: "a" }));
  expect(entry).toMatchObject({ result, share: expect.stringContaining(entry?.code ?? "") });
  expect(entry?.share).toMatch(entry?.code === undefined ? /^.{64}$/ : ` ${ACCOUNT_SID}`);
  expect(entry?.message === undefined).toBe(["handled", "stored"].includes(result));
  expect((journal as MemoryJournal).find(entry?.id ?? "")?.uuid).toBe(isKept ? "a" : undefined);
});
