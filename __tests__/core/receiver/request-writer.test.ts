import { setImmediate } from "node:timers/promises";
import type { PushWebhooksOptions } from "express-push-verification";
import type { Journal, JournalEntry, RequestEntry } from "../../../lib/core/journal/journal";
import { PROCESS_NAME } from "../../../lib/kit/process-name";
import { inspectReceiver } from "../../../lib/core/receiver/inspection";
import { createReceiver } from "../../support/receivers";
import { until } from "../../support/waiting";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  CHALLENGE_SID,
  eventRequest,
  FACTOR_SID,
  type TestRequest,
} from "../../support/webhook-requests";

const ADA = "user-7f3a-22";
const WRONG = { authToken: "another" };
const approve = "challenge.approved";
const OTHER_ACCOUNT = `AC${"7".repeat(32)}`;

function createWritten(options: Partial<PushWebhooksOptions> = {}) {
  const { push, receive } = createReceiver({ methods: ["POST"], ...options });
  const journal = inspectReceiver(push)?.openJournal() as Journal;
  const readCounts = async () =>
    Object.fromEntries((await journal.readCounts()).map(({ name, count }) => [name, count]));
  async function send(...requests: TestRequest[]): Promise<RequestEntry[]> {
    for (const request of requests) await receive(request);
    // Entries are made after their responses.
    await setImmediate();
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
  const [accepted, rejected, failed, unread] = await send(
    eventRequest(approve, { uuid: "a" }),
    eventRequest(approve, { uuid: "u".repeat(200), account_sid: FACTOR_SID }, WRONG),
    eventRequest("challenge.denied", { challenge_details: "{" }),
    { method: "PUT", path: "/push/events", headers: { "user-agent": "x".repeat(300) }, body: "" },
  );
  const measured = { atMs: expect.any(Number), durationMs: expect.any(Number) };
  const id = expect.any(String);
  const person = expect.stringMatching(/^[0-9a-f]{8}$/);
  const common = { id, ...measured, person, process: PROCESS_NAME, issues: [] };
  const sids = { factorSid: FACTOR_SID, challengeSid: CHALLENGE_SID };
  const user = { entity: "us…22", target: "POST /push/events", sender: {} };
  expect(accepted).toEqual({
    ...common,
    ...sids,
    ...user,
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
    ...sids,
    ...user,
    kind: "rejected",
    share: "SIGNATURE_MISMATCH ",
    result: "rejected",
    status: 403,
    code: "SIGNATURE_MISMATCH",
    isAuthenticated: false,
    message: expect.any(String),
    uuid: `${"u".repeat(100)}…`,
    explanation: expect.objectContaining({ code: "TOKEN_WRONG", isProven: false }),
  });
  expect(failed).toMatchObject({
    result: "failed",
    status: 500,
    code: "HANDLER_FAILED",
    isAuthenticated: true,
    failure: "no such user <entity_identity>",
    issues: [expect.stringMatching(/^challenge_details: /)],
  });
  const sender = { userAgent: `${"x".repeat(200)}…` };
  expect(unread).toMatchObject({ code: "METHOD_NOT_ALLOWED", status: 405, sender });
  expect(accepted?.person).toBe(await journal.createPseudonym(ADA));
  expect(JSON.stringify(await journal.read())).not.toContain(ADA);
  expect(await readCounts()).toEqual({
    "result:handled": 1,
    "result:rejected": 2,
    "result:failed": 1,
    "code:SIGNATURE_MISMATCH": 1,
    "code:HANDLER_FAILED": 1,
    "code:METHOD_NOT_ALLOWED": 1,
  });
});

it("explains one wrong signature a minute for each of three senders", async () => {
  const { send } = createWritten();
  // On a busy machine the work of three explanations would exceed the receiver's budget.
  const now = jest.spyOn(performance, "now").mockReturnValue(performance.now());
  const request = eventRequest(approve, {}, WRONG);
  const of = (agent: string) => ({
    ...request,
    headers: { ...request.headers, "user-agent": agent },
  });
  const entries = await send(...["a", "a", "b", "c", "d"].map(of));
  const isExplained = entries.map(({ explanation }) => explanation !== undefined);
  expect(isExplained).toEqual([true, false, true, true, false]);
  now.mockRestore();
});

it("notes a failure of the handlers after the response as a step", async () => {
  const { push, journal, send, readCounts } = createWritten({ acknowledge: "before" });
  let fail: (error: Error) => void = () => {};
  push.on(approve, () => new Promise((_resolve, reject) => (fail = reject)));
  expect(await send(eventRequest(approve, { uuid: "a" }))).toMatchObject([{ result: "handled" }]);
  fail(new Error(`${ADA} is away`));
  const readSteps = async () =>
    (await journal.read()).entries.filter(({ kind }: JournalEntry) => kind === "step");
  await until(async () => (await readSteps()).length > 0);
  const step = { what: "failed", uuid: "a", accountSid: ACCOUNT_SID, attempt: 1 };
  expect(await readSteps()).toMatchObject([{ ...step, error: "<entity_identity> is away" }]);
  expect(await readCounts()).toMatchObject({ "result:handled": 1, "attempt:failed": 1 });
});

it("counts the tokens of each account where there are several", async () => {
  const old = "0".repeat(32);
  const { send, readCounts } = createWritten({ authToken: [AUTH_TOKEN, old] });
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
});

it("shares the journal among verified users, codes and known accounts", async () => {
  const { journal, send } = createWritten();
  const shares: string[] = [];
  journal.append = ({ kind, share }) => shares.push(`${kind} ${share}`);
  await send(
    eventRequest(approve),
    eventRequest(approve, {}, WRONG),
    eventRequest(approve, { account_sid: OTHER_ACCOUNT }, WRONG),
  );
  expect(shares).toEqual([
    expect.stringMatching(/^accepted .{64}$/),
    `rejected SIGNATURE_MISMATCH ${ACCOUNT_SID}`,
    "rejected SIGNATURE_MISMATCH ",
  ]);
});

it("makes no entry that a full journal would drop", async () => {
  const { journal, send, readCounts } = createWritten();
  journal.isFull = (kind) => kind === "rejected";
  const request = eventRequest(approve, {}, WRONG);
  expect(await send(eventRequest(approve), request)).toMatchObject([{ kind: "accepted" }]);
  expect(await readCounts()).toMatchObject({ "result:rejected": 1, dropped: 1 });
});

it("writes each request into the journal of the queue", async () => {
  const append = jest.fn();
  const journal = { append, count: () => {} };
  const queue = { store: async () => "new", outcomes: {}, journal };
  const { push } = createReceiver({ queue: queue as never, methods: ["POST"] });
  expect(inspectReceiver(push)?.openJournal()).toBe(journal);
  const request = new Request("https://hooks.example.test/push/events");
  await Promise.all(Array.from({ length: 1_010 }, () => push.fetch(request)));
  await until(() => append.mock.calls.length === 1_010);
});
