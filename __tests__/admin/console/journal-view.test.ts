import { JournalView } from "../../../lib/admin/console/journal-view";
import type { Count, Journal, JournalEntry } from "../../../lib/core/journal/journal";

const MINUTE_MS = 60_000;
const SLICE = 100;

let view: JournalView;
let stored: JournalEntry[];
let counts: Count[];
const read = jest.fn(async (after = "0") => {
  const from = Number(after);
  const entries = stored.slice(from, from + SLICE);
  return { entries, position: String(from + entries.length), hasMore: entries.length === SLICE };
});

beforeEach(() => {
  jest.useFakeTimers();
  const readCounts = async (fromMs = 0) => counts.filter(({ minuteMs }) => minuteMs >= fromMs);
  view = new JournalView({ isShared: false, read, readCounts } as unknown as Journal, true);
  counts = [];
});
afterEach(() => void jest.useRealTimers());

const createChange = (atMs: number) =>
  ({ kind: "change", atMs, action: "key.create", status: 201 }) as unknown as JournalEntry;

it("shows what the store has removed for 10 minutes at most", async () => {
  stored = [createChange(Date.now())];
  const countChanges = async () => (await view.read()).changes.length;
  expect(await countChanges()).toBe(1);
  stored = [];
  jest.advanceTimersByTime(599_000);
  expect(await countChanges()).toBe(1);
  jest.advanceTimersByTime(1_000);
  expect(await countChanges()).toBe(0);
});

it("reads all slices, once for several pages", async () => {
  stored = Array.from({ length: 201 }, (_, index) => createChange(Date.now() + index));
  read.mockClear();
  const [{ changes }] = await Promise.all([view.read(), view.read()]);
  expect(read).toHaveBeenCalledTimes(3);
  expect(changes).toHaveLength(200);
  expect(changes[0]).toBe(stored.at(-1));
});

it("keeps what is counted late for a day", async () => {
  const nowMs = Date.now();
  stored = [createChange(nowMs - 1)];
  const count = (minutes: number, times: number) =>
    ({ minuteMs: nowMs + minutes * MINUTE_MS, name: "dropped", count: times }) as const;
  counts = [count(1, 1)];
  expect(await view.read()).toHaveProperty("sinceMs", nowMs - 1);
  counts = [count(-1, 1), count(0, 1), count(1, 2)];
  expect(await view.read()).toMatchObject({ counts, sinceMs: nowMs - MINUTE_MS });
  jest.advanceTimersByTime(1_440.5 * MINUTE_MS);
  expect(await view.read()).toMatchObject({ changes: [], counts: counts.slice(2) });
});
