/** The dead letters of a queue, as a console groups, masks and changes them. */
import type { ConsoleQueue } from "../../../lib/admin/console/queue-view";
import { eventFixture } from "express-push-verification/testing";
import type { QueueView } from "../../../lib/admin/console/console-view";
import { silent } from "../../support/receivers";
import { ACCOUNT_SID } from "../../support/webhook-requests";
import { startConsole, useConsoles } from "./console-app";
import { createMemoryQueue, USER_DATA } from "./memory-queue";

useConsoles();

/** A choice of all that were counted. */
const ALL = { count: 9, untilMs: Date.UTC(2026, 3) };

const times = (count: number, error: string) => Array.from({ length: count }, () => error);

async function readQueue(queue: ConsoleQueue, reveal = false) {
  const app = await startConsole({ router: { queue, console: { reveal } } });
  return (await app.call("/queue")).body as QueueView;
}

async function change(queue: ConsoleQueue, action: "retry" | "discard", choice: object) {
  const app = await startConsole({ router: { queue } });
  const { count } = (await app.call(`/dead-letters/${action}`, choice)).body as { count: number };
  return { count, audits: app.audits };
}

describe("GET /console/queue", () => {
  it("has the counts, and no age and no workers when the queue knows none", async () => {
    const stats = { oldestWaitingMs: undefined, workers: undefined };
    const counts = { atMs: expect.any(Number), waiting: 3, active: 2, delayed: 1, deadLetters: 0 };
    const view = await readQueue(createMemoryQueue([], stats));
    expect(view).toEqual({ ...counts, groups: [], isCut: false });
  });

  it("groups by the first 500 characters of an error, the largest group first", async () => {
    const long = "x".repeat(500);
    const errors = ["HANDLER_FAILED: no user jane", ...times(25, "down"), `${long}1`, `${long}2`];
    const { groups } = await readQueue(createMemoryQueue(errors));
    // An event that cannot be read shows the code only.
    const found = groups.map(({ error, count }) => `${count} ${error}`);
    expect(found).toEqual(["25 down", `2 ${long}…`, "1 HANDLER_FAILED"]);
  });

  it("has the newest 20 dead letters of a group", async () => {
    const { groups } = await readQueue(createMemoryQueue(times(25, "down")));
    const uuids = groups[0]?.deadLetters.map(({ uuid }) => uuid);
    expect(uuids).toEqual(Array.from({ length: 20 }, (_, index) => `uuid-${24 - index}`));
  });

  it("groups errors that differ only in values of the events, and masks these values", async () => {
    const identities = ["jane.doe@example.com", "john@example.com", "ann"];
    const events = identities.map((entity_identity) =>
      eventFixture("challenge.approved", { entity_identity }),
    );
    const errors = events.map(
      ({ entity_identity, uuid }) => `no user ${entity_identity} (${uuid})`,
    );
    const queue = createMemoryQueue(errors, {}, events);
    const view = await readQueue(queue);
    const error = "no user <entity_identity> (<uuid>)";
    expect(view.groups).toMatchObject([{ error, count: 3 }]);
    for (const identity of identities) expect(JSON.stringify(view)).not.toContain(`"${identity}`);
    expect(JSON.stringify(view)).not.toMatch(/no user [a-z]/);
    const revealed = await readQueue(queue, true);
    expect(revealed.groups[0]?.deadLetters[2]?.error).toContain("jane.doe@example.com");
    const retry = jest.spyOn(queue, "retry");
    expect(await change(queue, "retry", { error, ...ALL })).toMatchObject({ count: 3 });
    const scope = { accountSid: ACCOUNT_SID, receiver: "shop" };
    expect(retry.mock.calls[0]).toEqual(["uuid-0", scope]);
  });

  const different = Array.from({ length: 51 }, (_, index) => `error ${index}`);
  it.each<[string, string[], number, number, boolean]>([
    ["1,000 dead letters", times(1_000, "down"), 1, 1_000, false],
    ["more than 1,000 dead letters", times(1_001, "down"), 1, 1_000, true],
    ["more than 50 groups", different, 50, 1, true],
  ])("says whether it is cut: %s", async (_what, errors, groups, count, isCut) => {
    const view = await readQueue(createMemoryQueue(errors));
    expect([view.groups.length, view.groups[0]?.count, view.isCut]).toEqual([groups, count, isCut]);
  });
});

it("GET /console/queue responds 503 STORE_UNAVAILABLE when the store is down", async () => {
  const errors: unknown[] = [];
  const logger = { ...silent, error: (fields: object) => void errors.push(fields) };
  const stats = () => Promise.reject(new Error("connect ECONNREFUSED"));
  const queue = { ...createMemoryQueue([]), stats };
  const app = await startConsole({ router: { queue, logger } });
  const body = { code: "STORE_UNAVAILABLE" };
  expect(await app.call("/queue")).toMatchObject({ status: 503, body });
  expect(errors).toMatchObject([{ err: { cause: { message: "connect ECONNREFUSED" } } }]);
});

const ERRORS = ["down", "x".repeat(600), "down"];
const one = { uuid: "uuid-1", accountSid: ACCOUNT_SID };
const FIRST_MS = Date.UTC(2026, 2, 5, 9);
const gone = { ...one, uuid: "gone" };

it.each([
  ["retry", { deadLetters: [one] }, 1, ["retry uuid-1"]],
  ["discard", { deadLetters: [one, gone] }, 1, ["discard uuid-1", "discard gone"]],
  ["retry", { error: "down", ...ALL }, 2, ["retry uuid-0", "retry uuid-2"]],
  ["discard", { error: "down", ...ALL, count: 1 }, 1, ["discard uuid-0"]],
  ["discard", { error: "down", ...ALL, untilMs: FIRST_MS }, 1, ["discard uuid-0"]],
  ["discard", { error: `${"x".repeat(500)}…`, ...ALL }, 1, ["discard uuid-1"]],
  ["retry", { error: "unknown", ...ALL }, 0, []],
  ["discard", ALL, 3, ["discard uuid-0", "discard uuid-1", "discard uuid-2"]],
] as const)("POST /console/dead-letters/%s %j: %d", async (action, choice, count, changes) => {
  const queue = createMemoryQueue(ERRORS);
  const changed = await change(queue, action, choice);
  const error = "error" in choice && count > 0 ? choice.error : undefined;
  const only = "deadLetters" in choice && choice.deadLetters.length === 1;
  const uuid = only ? choice.deadLetters[0].uuid : undefined;
  const by = { action: `dead-letter.${action}`, actor: "alice", status: 200 };
  expect(changed).toEqual({ count, audits: [{ ...by, count, error, uuid }] });
  expect(queue.changes).toEqual(changes);
});

describe("POST /console/user-data", () => {
  const user = { accountSid: ACCOUNT_SID, entityIdentity: "jane.doe@example.com" };

  it("counts, and erases with an audit entry that has the number of all, and names nobody", async () => {
    const queue = createMemoryQueue([]);
    const app = await startConsole({ router: { queue } });
    expect((await app.call("/user-data/count", user)).body).toEqual(USER_DATA);
    expect(app.audits).toEqual([]);
    expect((await app.call("/user-data/erase", user)).body).toEqual(USER_DATA);
    expect(queue.changes).toEqual([`erase ${ACCOUNT_SID} ${user.entityIdentity}`]);
    expect(app.audits).toMatchObject([{ action: "user-data.erase", count: 15, status: 200 }]);
    expect(JSON.stringify(app.audits)).not.toContain("jane");
  });

  it.each([
    { ...user, accountSid: user.entityIdentity },
    { ...user, entityIdentity: "" },
    { ...user, uuid: "jane" },
  ])("rejects %j with 400, without an identity in the response and the audit", async (wrong) => {
    const queue = createMemoryQueue([]);
    const app = await startConsole({ router: { queue } });
    const { status, body } = await app.call("/user-data/erase", wrong);
    expect(status).toBe(400);
    expect(JSON.stringify([body, app.audits])).not.toContain("jane");
    expect(app.audits).toMatchObject([{ action: "user-data.erase", status: 400 }]);
    expect(queue.changes).toEqual([]);
  });
});
