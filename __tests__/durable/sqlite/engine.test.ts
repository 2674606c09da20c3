import { openDatabase, type Database } from "../../../lib/durable/sqlite/database";
import { createEngine, type Engine } from "../../../lib/durable/sqlite/engine";
import { toNewFileEvent } from "../../../lib/durable/sqlite/new-event";
import {
  HEARTBEAT_MS,
  LEASE_MS,
  type Request,
  type ThreadMessage,
} from "../../../lib/durable/sqlite/protocol";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent } from "../../support/durable";
import { createFile, damagePages, removeFiles } from "../../support/sqlite";

const databases: Database[] = [];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
});
afterEach(() => {
  jest.useRealTimers();
  for (const { connection } of databases.splice(0)) connection.close();
  removeFiles();
});

/** An engine as each process has one, and how many events it has claimed. */
function open(file: string): Engine & { claimed: () => number; beat: () => void } {
  const database = openDatabase(file, "q");
  databases.push(database);
  let claimed = 0;
  const post = (message: ThreadMessage) => {
    if (message.type === "done") claimed += message.claimed.length;
    if (message.type === "failed") throw new Error(message.failure.message);
  };
  const engine = createEngine(database, post, (error) => ({
    code: undefined,
    message: String(error),
  }));
  return {
    ...engine,
    claimed: () => claimed,
    beat: () => engine.run([[1, "heartbeat", true]]),
  };
}

function startTwo(): [first: ReturnType<typeof open>, second: ReturnType<typeof open>] {
  const file = createFile();
  const [first, second] = [open(file), open(file)];
  first.beat();
  second.beat();
  const event = toNewFileEvent(queuedEvent(eventFixture("factor.created")), undefined, 60_000);
  first.run([[2, "want", { worker: 1, count: 1 }]]);
  first.run([[3, "store", event]]);
  second.run([[4, "want", { worker: 1, count: 1 }]]);
  expect([first.claimed(), second.claimed()]).toEqual([1, 0]);
  return [first, second];
}

it("leaves the events of a process that was stalled together with this one", () => {
  const [first, second] = startTwo();
  jest.advanceTimersByTime(LEASE_MS + 1_000);
  second.beat();
  first.beat();
  jest.advanceTimersByTime(HEARTBEAT_MS);
  second.beat();
  expect(second.claimed()).toBe(0);
});

it("takes over the events of a process without a heartbeat", () => {
  const [, second] = startTwo();
  for (let elapsedMs = 0; elapsedMs <= LEASE_MS + HEARTBEAT_MS; elapsedMs += HEARTBEAT_MS) {
    jest.advanceTimersByTime(HEARTBEAT_MS);
    second.beat();
  }
  expect(second.claimed()).toBe(1);
});

describe("in a damaged file", () => {
  const event = toNewFileEvent(queuedEvent(eventFixture("factor.created")), undefined, 60_000);
  const requests: Record<string, Request[]> = {
    write: [[1, "store", event]],
    read: [[1, "stats", undefined]],
  };

  function openDamaged(): Engine {
    const file = createFile();
    openDatabase(file, "q").connection.close();
    const database = openDatabase(file, "q");
    databases.push(database);
    const engine = createEngine(
      database,
      () => {},
      (error) => ({ code: undefined, message: String(error) }),
    );
    // The root pages of the tables; the first page has the schema.
    damagePages(file, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    return engine;
  }

  it.each(["write", "read"])("throws what a %s finds, so that the file is closed", (kind) => {
    expect(() => openDamaged().run(requests[kind]!)).toThrow("malformed");
  });

  it("throws what forgetting expired uuids finds", () => {
    expect(() => openDamaged().purge()).toThrow("malformed");
  });
});
