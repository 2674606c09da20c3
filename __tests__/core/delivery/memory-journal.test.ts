import type { NewEntry } from "../../../lib/core/journal/journal";
import { PROCESS_NAME } from "../../../lib/kit/process-name";
import { readEntry } from "../../../lib/core/journal/entry-text";
import { MemoryJournal } from "../../../lib/core/delivery/memory-journal";

const DAY_MS = 24 * 60 * 60_000;

function createStep(uuid: string, share: string): NewEntry {
  return { kind: "step", what: "handled", atMs: Date.now(), uuid, accountSid: "AC", share };
}

const listUuids = async (journal: MemoryJournal, after?: string) =>
  (await journal.read(after)).entries.flatMap((entry) =>
    entry.kind === "step" ? [entry.uuid] : [],
  );

it("reads all entries in their order, or those after a position", async () => {
  const journal = new MemoryJournal();
  journal.append(createStep("a", ""));
  const { position, hasMore } = await journal.read();
  expect([hasMore, journal.isShared]).toEqual([false, false]);
  journal.append(createStep("b", ""));
  const change: NewEntry = { kind: "change", atMs: 1, status: 200, share: "" };
  process.env.PUSH_BUILD = "42";
  journal.append({ ...change, identity: "ada" });
  delete process.env.PUSH_BUILD;
  journal.append(createStep("c", ""));
  const { entries } = await journal.read();
  expect(entries.map(({ kind }) => kind)).toEqual(["start", "step", "step", "change", "step"]);
  const person = await journal.createPseudonym("ada");
  expect(entries.at(-2)).toEqual({ ...change, person, process: PROCESS_NAME, build: "42" });
  expect(await listUuids(journal, position)).toEqual(["b", "c"]);
});

it("keeps events of 8 MiB", () => {
  const journal = new MemoryJournal();
  const keep = (id: string, authenticatedAccount: string, length = 16_383) => {
    const event = { params: [["a", "b".repeat(length)]] };
    journal.keep(id, { authenticatedAccount, event } as never);
  };
  keep("of another", "small");
  keep("large", "small", 16_384);
  const ids = Array.from({ length: 129 }, (_, index) => String(index));
  for (const id of ids) keep(id, "");
  expect(journal.find("of another")).toBeDefined();
  expect(journal.find("large")).toBeUndefined();
  expect(ids.filter((id) => journal.find(id) === undefined)).toEqual(["0", "1", "2"]);
});

it("removes the oldest of the share with the most above 2,000 of a kind", async () => {
  const now = jest.spyOn(Date, "now").mockReturnValue(DAY_MS);
  const journal = new MemoryJournal();
  journal.append(createStep("of another", "small"));
  for (let index = 0; index < 2_100; index++) journal.append(createStep(`${index}`, "large"));
  const uuids = await listUuids(journal);
  expect(uuids).toHaveLength(2_000);
  expect(uuids.slice(0, 2)).toEqual(["of another", "101"]);
  expect(await listUuids(journal, "2101")).toEqual(["2099"]);
  now.mockReturnValue(3 * DAY_MS);
  for (let index = 0; index < 2_000; index++) journal.append(createStep(`${index}`, "small"));
  expect(await listUuids(journal)).toHaveLength(2_000);
  now.mockRestore();
});

it("keeps entries, counters and events for 24 hours", async () => {
  const now = jest.spyOn(Date, "now").mockReturnValue(DAY_MS);
  const journal = new MemoryJournal();
  const queued = { authenticatedAccount: "", event: { params: [] } } as never;
  journal.keep("a", queued);
  journal.count("dropped", "dropped");
  const read = async () => {
    const { entries } = await journal.read();
    return [entries.length, await journal.readCounts(), journal.find("a")];
  };
  const count = { minuteMs: DAY_MS, name: "dropped", count: 2 };
  expect(await journal.readCounts(DAY_MS + 60_000)).toEqual([]);
  now.mockReturnValue(2 * DAY_MS - 1);
  journal.count();
  expect(await read()).toEqual([1, [count], queued]);
  now.mockReturnValue(2 * DAY_MS + 1);
  journal.count("dropped");
  expect(await read()).toEqual([0, [{ ...count, minuteMs: 2 * DAY_MS, count: 1 }], undefined]);
  now.mockRestore();
});

it("bounds the counters of a minute", async () => {
  const journal = new MemoryJournal();
  for (let index = 0; index < 1_010; index++) journal.count(`token:AC${index}:0`);
  expect((await journal.readCounts())[1_000]).toMatchObject({ name: "dropped", count: 10 });
});

it.each(["", "{}", '{"kind":"step"}', '{"atMs":1}', "null"])("%j is no entry", (text) =>
  expect(readEntry(text)).toBeUndefined(),
);
