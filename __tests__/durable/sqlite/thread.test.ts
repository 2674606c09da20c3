import { EventEmitter } from "node:events";
import { connect, type SqliteConnection } from "../../../lib/durable/sqlite/node-sqlite";
import { METHODS, type MethodName } from "../../../lib/durable/sqlite/operations";
import type { ThreadMessage } from "../../../lib/durable/sqlite/thread";
import { createFile, execute, removeFiles } from "../../support/sqlite";

/** The thread runs in this process, whose clock the test moves. */
const mockPort = Object.assign(new EventEmitter(), {
  postMessage: jest.fn<void, [ThreadMessage]>(),
  close() {},
});
const mockSettings = { file: "", name: "q", dedupeTtlMs: 1_000, outcomeTtlMs: 2_000 };
jest.mock("node:worker_threads", () => ({ parentPort: mockPort, workerData: mockSettings }));

/** Starts the thread, whose polls begin when time passes. */
const startThread = () =>
  jest.isolateModules(() => void jest.requireActual("../../../lib/durable/sqlite/thread"));

beforeEach(() => {
  jest.useFakeTimers();
  mockSettings.file = createFile();
});
afterEach(() => {
  mockPort.emit("message", "close");
  mockPort.removeAllListeners();
  jest.useRealTimers();
  jest.restoreAllMocks();
  removeFiles();
});

it("polls more often for 4 s after another process wrote", () => {
  const start = jest.spyOn(globalThis, "setTimeout");
  const countHints = () =>
    mockPort.postMessage.mock.calls.filter(([{ type }]) => type === "hint").length;
  const listPauses = (passedMs: number) => {
    start.mockClear();
    jest.advanceTimersByTime(passedMs);
    return start.mock.calls.map(([, pauseMs]) => pauseMs);
  };
  startThread();
  listPauses(4_100);
  expect(listPauses(500)).toEqual(Array(5).fill(100));
  const before = countHints();
  execute(mockSettings.file, "UPDATE queue SET written_by = 'another'");
  expect(listPauses(100)).toEqual([5]);
  expect(countHints()).toBe(before + 1);
  expect(listPauses(3_900)).toEqual(Array(780).fill(5));
});

it("a commit waits for the disk only where a power cut must not undo it", () => {
  const key = "0".repeat(32);
  const outcome = { key, value: "[]" };
  const event = { key, content: key, uuidHash: key, body: "{}", outcome: undefined };
  const run = { id: 1, started: 1 };
  const failed = { failures: 1, errors: "[]", failure: '""', isForged: false };
  const calls: [method: MethodName, args: unknown[], mode: "full" | "normal"][] = [
    ["store", [[event]], "full"],
    ["beat", [[{ id: 1, isWorker: true }]], "normal"],
    ["claim", [1, [], 1], "normal"],
    ["fail", [[{ ...run, ...failed }]], "full"],
    ["appendEntries", [[], []], "normal"],
    ["retry", [["1"]], "full"],
    ["trimEntries", [], "normal"],
    ["record", [[outcome]], "full"],
    ["purge", [], "normal"],
    ["discard", [["1"]], "full"],
    ["erase", ["event", ["1"]], "full"],
    ["finish", [[run]], "full"],
    ["leave", [{ id: 1 }], "normal"],
    ["secret", ["s"], "full"],
  ];
  const writing = Object.entries(METHODS).filter(([, kind]) => kind !== "read");
  expect(calls.map(([method]) => method).toSorted()).toEqual(
    writing.map(([method]) => method).toSorted(),
  );
  startThread();
  const commits: unknown[] = [];
  const prototype = Object.getPrototypeOf(connect(":memory:")) as SqliteConnection;
  const { exec } = prototype;
  jest.spyOn(prototype, "exec").mockImplementation(function (this: SqliteConnection, sql) {
    const mode = this.prepare("PRAGMA synchronous").get()?.synchronous;
    if (sql === "COMMIT") commits.push(mode === 2 ? "full" : "normal");
    exec.call(this, sql);
  });
  for (const [method, args, mode] of calls) {
    mockPort.emit("message", [method, args]);
    expect({ method, commits: commits.splice(0) }).toEqual({ method, commits: [mode] });
  }
  const replies = mockPort.postMessage.mock.calls.filter(([{ type }]) => type === "reply");
  expect(replies.filter(([reply]) => "failure" in reply)).toEqual([]);
});
