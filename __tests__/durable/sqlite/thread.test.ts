import { EventEmitter } from "node:events";
import type { ThreadMessage } from "../../../lib/durable/sqlite/thread";
import { LEASE_MS } from "../../../lib/durable/storage";
import { createFile, execute, removeFiles } from "../../support/sqlite";

/** The thread runs in this process, whose clock the test moves. */
const mockPort = Object.assign(new EventEmitter(), {
  postMessage: jest.fn<void, [ThreadMessage]>(),
  close() {},
});
const mockSettings = { file: createFile(), name: "q", dedupeTtlMs: 1_000, outcomeTtlMs: 2_000 };
jest.mock("node:worker_threads", () => ({ parentPort: mockPort, workerData: mockSettings }));

afterEach(() => {
  mockPort.emit("message", "close");
  jest.useRealTimers();
  removeFiles();
});

it("polls each 100 ms, and each 5 ms for a lease after another process wrote", () => {
  jest.useFakeTimers();
  const start = jest.spyOn(globalThis, "setTimeout");
  const countHints = () =>
    mockPort.postMessage.mock.calls.filter(([{ type }]) => type === "hint").length;
  const listPauses = (passedMs: number) => {
    start.mockClear();
    jest.advanceTimersByTime(passedMs);
    return start.mock.calls.map(([, pauseMs]) => pauseMs);
  };
  jest.requireActual("../../../lib/durable/sqlite/thread");
  listPauses(LEASE_MS + 100);
  expect(listPauses(500)).toEqual(Array(5).fill(100));
  const before = countHints();
  execute(mockSettings.file, "UPDATE queue SET written_by = 'another'");
  expect(listPauses(100)).toEqual([5]);
  expect(countHints()).toBe(before + 1);
  expect(listPauses(LEASE_MS - 100)).toEqual(Array((LEASE_MS - 100) / 5).fill(5));
});
