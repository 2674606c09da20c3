import { JournalView } from "../../../lib/admin/console/journal-view";
import type { Journal, JournalEntry } from "../../../lib/core/journal/journal";

afterEach(() => void jest.useRealTimers());

it("shows what the store has removed for 10 minutes at most", async () => {
  jest.useFakeTimers();
  const change = { kind: "change", atMs: Date.now(), action: "key.create", status: 201 };
  let stored = [change] as unknown as JournalEntry[];
  const journal = {
    isShared: false,
    read: async (after?: string) => {
      return { entries: after === undefined ? stored : [], position: "1", hasMore: false };
    },
    readCounts: async () => [],
  };
  const view = new JournalView(journal as unknown as Journal, true);
  const countChanges = async () => (await view.read()).changes.length;
  expect(await countChanges()).toBe(1);
  stored = [];
  jest.advanceTimersByTime(599_000);
  expect(await countChanges()).toBe(1);
  jest.advanceTimersByTime(1_000);
  expect(await countChanges()).toBe(0);
});
