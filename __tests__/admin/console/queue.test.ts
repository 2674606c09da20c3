/** The dead letters of a queue, as a console groups, masks and changes them. */
import { ServerResponse } from "node:http";
import type { ConsoleQueue, QueueView } from "../../../lib/admin/console/queue-view";
import { eventFixture } from "express-push-verification/testing";
import { silent } from "../../support/receivers";
import { ACCOUNT_SID } from "../../support/webhook-requests";
import { act, readShown, startConsole, stopClock, useConsoles } from "./console-app";
import { createMemoryQueue, storeDown } from "./memory-queue";

useConsoles();

const times = (count: number, error: string) => Array.from({ length: count }, () => error);

async function readQueue(queue: ConsoleQueue, reveal = false) {
  const app = await startConsole({ router: { queue, console: { reveal } } });
  return (await app.call("/queue")).body as QueueView;
}

describe("GET /console/queue", () => {
  it("has only the counts that the queue knows", async () => {
    const stats = { oldestWaitingMs: undefined, workers: undefined };
    const counts = { atMs: expect.any(Number), waiting: 3, active: 2, delayed: 1, deadLetters: 0 };
    expect(await readQueue(createMemoryQueue([], stats))).toEqual({ ...counts, groups: [] });
  });

  it("has the newest 20 dead letters of each group", async () => {
    const { groups } = await readQueue(createMemoryQueue(["alone", ...times(25, "down")]));
    const firstAtMs = Date.UTC(2026, 2, 5, 9, 0, 1);
    const group = { error: "down", count: 25, users: 1, firstAtMs, lastAtMs: firstAtMs + 24_000 };
    expect(groups).toMatchObject([group, { error: "alone", count: 1 }]);
    const uuids = groups[0]?.deadLetters.map(({ uuid }) => uuid);
    expect(uuids).toEqual(Array.from({ length: 20 }, (_, index) => `uuid-${25 - index}`));
  });

  it("masks the values of the events, unless the console reveals them", async () => {
    const event = eventFixture("challenge.approved", { entity_identity: "jane.doe@example.com" });
    const queue = createMemoryQueue(["no user jane.doe@example.com"], {}, [event]);
    const view = await readQueue(queue);
    const row = { entity: "jan…com", person: expect.stringMatching(/^[0-9a-f]{8}$/), revealed: [] };
    const error = "no user <entity_identity>";
    expect(view.groups).toMatchObject([{ error, deadLetters: [row] }]);
    expect(JSON.stringify(view)).not.toContain("jane");
    const [revealed] = (await readQueue(queue, true)).groups[0]?.deadLetters ?? [];
    const texts = { entity: event.entity_identity, error: expect.stringContaining("jane.doe") };
    expect(revealed).toMatchObject(texts);
    expect(Object.fromEntries(revealed?.revealed ?? [])).toHaveProperty("factor_metadata");
  });
});

it("GET /console/queue responds 503 STORE_UNAVAILABLE when the store is down", async () => {
  const errors: unknown[] = [];
  const logger = { ...silent, error: (fields: object) => void errors.push(fields) };
  const stats = () => Promise.reject(storeDown);
  const queue = { ...createMemoryQueue([]), stats };
  const app = await startConsole({ router: { queue, logger } });
  const body = { code: "STORE_UNAVAILABLE" };
  expect(await app.call("/queue")).toMatchObject({ status: 503, body });
  expect(errors).toMatchObject([{ err: storeDown }]);
});

const ERRORS = ["down", "x".repeat(600), "down"];
const one = { uuid: "uuid-1", accountSid: ACCOUNT_SID };
const FIRST_MS = Date.UTC(2026, 2, 5, 9);
/** A choice of all that were counted. */
const ALL = { count: 9, untilMs: Date.UTC(2026, 3) };

it.each([
  ["retry", one, 1, ["retry uuid-1"]],
  ["retry", { ...one, uuid: "uuid-2", receiver: "shop" }, 1, ["retry uuid-2"]],
  ["discard", { ...one, uuid: "gone" }, 0, ["discard gone"]],
  ["retry", { error: "down", ...ALL }, 2, ["retry uuid-0", "retry uuid-2"]],
  ["discard", { error: "down", ...ALL, count: 1 }, 1, ["discard uuid-0"]],
  ["discard", { error: "down", ...ALL, untilMs: FIRST_MS }, 1, ["discard uuid-0"]],
  ["discard", { error: `${"x".repeat(500)}…`, ...ALL }, 1, ["discard uuid-1"]],
  ["retry", { error: "unknown", ...ALL }, 0, []],
  ["discard", ALL, 3, ["discard uuid-0", "discard uuid-1", "discard uuid-2"]],
] as const)("POST /console/dead-letters/%s %j: %d", async (action, choice, count, changes) => {
  const queue = createMemoryQueue(ERRORS);
  const change = jest.spyOn(queue, action);
  const app = await startConsole({ router: { queue } });
  const { result, done } = await act(app, `/dead-letters/${action}`, choice);
  expect(result?.changed).toBe(count);
  expect(done).toBe(changes.length);
  const error = "error" in choice && count > 0 ? choice.error : undefined;
  const uuid = "uuid" in choice ? choice.uuid : undefined;
  const by = { action: `dead-letter.${action}`, actor: "alice", status: 200 };
  expect(app.audits).toEqual([{ ...by, count, error, uuid }]);
  expect(queue.changes).toEqual(changes);
  for (const [name, options] of change.mock.calls) {
    const receiver = /[02]$/.test(name) ? "shop" : undefined;
    expect(options).toEqual({ accountSid: ACCOUNT_SID, receiver, by: "alice" });
  }
  const changed = { action: by.action, by: "alice", status: 200, count, error, uuid };
  const { changes: history } = await readShown(app);
  const entry = {
    kind: "change",
    share: "",
    atMs: expect.any(Number),
    process: expect.any(String),
  };
  expect(history).toEqual([{ ...changed, ...entry }]);
});

it("audits no error of dead letters that others have changed meanwhile", async () => {
  const queue = { ...createMemoryQueue(ERRORS), retry: async () => false };
  const app = await startConsole({ router: { queue } });
  const { result } = await act(app, "/dead-letters/retry", { error: "down", ...ALL });
  expect(result).toMatchObject({ changed: 0, problems: { length: 2 } });
  expect(app.audits).toEqual([
    { action: "dead-letter.retry", actor: "alice", status: 200, count: 0 },
  ]);
});

it("tells once in 100 ms how far it is", async () => {
  const app = await startConsole({ router: { queue: createMemoryQueue(ERRORS) } });
  const write = jest.spyOn(ServerResponse.prototype, "write");
  await stopClock(() => act(app, "/dead-letters/retry", ALL));
  expect(write).toHaveBeenCalledTimes(2);
  write.mockRestore();
});
