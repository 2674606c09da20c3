import type { Journal, NewEntry } from "../../lib/core/journal/journal";
import type { Availability } from "../../lib/durable/availability";
import { StoredJournal } from "../../lib/durable/journal";
import { createNotes } from "../../lib/durable/steps";
import type { NewStoredEntry, Storage } from "../../lib/durable/storage";

const IDENTITY = "ada-lovelace";
const entry = (share: string, action = "", more: object = {}): NewEntry => {
  return { kind: "change", atMs: Date.now(), action, status: 200, share, ...more };
};

let written: NewStoredEntry[][];
let counted: Record<string, number>[];
let minutes: number[];
let isOpen: boolean;
let failure: Error | undefined;
let trims: number;
let journal: StoredJournal;

const storage = {
  scan: jest.fn(),
  async secret(candidate: string) {
    return candidate;
  },
  async appendEntries(...[entries, counts]: Parameters<Storage["appendEntries"]>) {
    if (failure !== undefined) throw failure;
    written.push([...entries]);
    const keys = counts.map(({ minuteMs, name }) => `${minuteMs} ${name}`);
    expect(new Set(keys).size).toBe(keys.length);
    minutes.push(...counts.map(({ minuteMs }) => minuteMs));
    counted.push(Object.fromEntries(counts.map(({ name, count }) => [name, count])));
  },
  async trimEntries() {
    trims++;
  },
};
const availability = {
  assertOpen() {
    if (!isOpen) throw new Error("down");
  },
};

beforeEach(() => {
  jest.useFakeTimers({ now: Date.UTC(2026, 2, 5, 9, 0, 30) });
  minutes = [];
  [written, counted, isOpen, failure, trims] = [[], [], true, undefined, 0];
  journal = new StoredJournal(
    storage as unknown as Storage,
    availability as unknown as Availability,
    (read) => read(),
  );
});
afterEach(async () => {
  await journal.close();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const texts = () => written.flat().map(({ text }) => JSON.parse(text) as Record<string, unknown>);
const actions = () => texts().flatMap(({ action }) => (typeof action === "string" ? action : []));

it("writes once a second after the first entry", async () => {
  for (let ms = 0; ms < 3_000; ms += 100) {
    journal.append(entry("", String(ms)));
    await pass(100);
  }
  expect(written.map(({ length }) => length)).toEqual([2, 9, 10, 10]);
  expect(journal.isShared).toBe(true);
  expect(texts()[0]).toMatchObject({ kind: "start", atMs: Date.UTC(2026, 2, 5, 9, 0, 30) });
});

it("divides 200 entries of a kind among the shares", async () => {
  await flushFirst();
  journal.count("dropped");
  for (let index = 0; index < 5; index++) journal.append(entry("small", `small ${index}`));
  for (let index = 0; index < 1_000; index++) journal.append(entry("large", `large ${index}`));
  expect(journal.isFull("change", "large")).toBe(true);
  expect(journal.isFull("change", "late")).toBe(false);
  for (let index = 0; index < 5; index++) journal.append(entry("late", `late ${index}`));
  journal.append({ ...entry("large"), kind: "step" } as unknown as NewEntry);
  await pass(1_000);
  const kept = actions().slice(1);
  expect(kept).toHaveLength(201);
  expect(kept.filter((action) => action.startsWith("small"))).toHaveLength(5);
  expect(kept.filter((action) => action.startsWith("late"))).toHaveLength(5);
  expect(kept).toContain("large 194");
  expect(counted.at(-1)).toEqual({ dropped: 811 });
  for (let index = 0; index < 100; index++) for (const share of "ab") journal.append(entry(share));
  const areFull = ["a", "b", "c"].map((share) => journal.isFull("change", share));
  expect(areFull).toEqual([true, true, false]);
});

it.each([
  [1_000, "1000", true],
  [999, "999", false],
  [0, "7", false],
])(
  "reads a slice of %d entries: the position is %s, hasMore is %p",
  async (count, position, hasMore) => {
    const slice = Array.from({ length: count }, (_, index) => ({
      id: String(index + 1),
      text: "",
    }));
    storage.scan.mockResolvedValueOnce({ texts: slice });
    expect(await journal.read("7")).toEqual({ entries: [], position, hasMore });
    expect(storage.scan).toHaveBeenLastCalledWith("entry", "7");
  },
);

it("has the steps of an event in the share of its account", async () => {
  const note = createNotes(journal);
  const stored = { account: "own", params: [["uuid", "u"]] };
  note(stored, { what: "handled", attempt: 1 });
  note(stored, { what: "failed", attempt: 2 });
  note(stored, { what: "retried" });
  await pass(1_000);
  const [, ...steps] = written.flat();
  expect(steps.map(({ kind, share }) => [kind, share])).toEqual(Array(3).fill(["step", "own"]));
  expect(counted).toEqual([{ "attempt:handled": 1, "attempt:failed": 1 }]);
});

it("counts beyond 100 counters a minute as dropped", async () => {
  await flushFirst();
  for (const more of [0, 100, 0]) {
    for (let index = 0; index < 100; index++) journal.count(`code:${index + more}`);
    await pass(1_000);
  }
  const sums = counted
    .slice(1)
    .map(({ dropped, ...names }) => [
      dropped,
      Object.values(names).reduce((sum, count) => sum + count, 0),
    ]);
  expect(sums).toEqual([
    [undefined, 100],
    [100, 0],
    [undefined, 100],
  ]);
  await pass(60_000);
  journal.count("code:200");
  await pass(1_000);
  expect(counted.at(-1)).toEqual({ "code:200": 1 });
});

it("keeps the counters of the last 60 minutes of an outage", async () => {
  isOpen = false;
  for (let minute = 0; minute < 90; minute++) {
    journal.count("code:a");
    await pass(60_000);
  }
  isOpen = true;
  await pass(1_000);
  expect(minutes).toHaveLength(60);
});

it("keeps a pseudonym in place of an identity during an outage", async () => {
  await flushFirst();
  const person = await journal.createPseudonym(IDENTITY);
  isOpen = false;
  journal.append(entry("", "during", { identity: IDENTITY }));
  await pass(60_000);
  expect(actions()).toEqual(["first"]);
  isOpen = true;
  await pass(1_000);
  expect(texts().at(-1)).toMatchObject({ action: "during", person });
  expect(JSON.stringify(written)).not.toContain(IDENTITY);
});

it("names no user when the secret of the store is not known within a second", async () => {
  isOpen = false;
  journal.append(entry("", "first", { identity: IDENTITY }));
  await pass(1_000);
  isOpen = true;
  await pass(1_000);
  expect(actions()).toEqual(["first"]);
  expect(texts().at(-1)).not.toHaveProperty("person");
});

it("counts what the store rejected as dropped", async () => {
  failure = new Error("down");
  journal.append(entry("", "lost", { identity: IDENTITY }));
  journal.count("dropped", "code:lost");
  await pass(1_000);
  failure = undefined;
  journal.append(entry("", "kept"));
  await pass(1_000);
  expect(actions()).toEqual(["kept"]);
  // The start of the process is one.
  expect(counted).toEqual([{ dropped: 3 }]);
});

it("writes what happened first before what was noted first", async () => {
  await flushFirst();
  for (const atMs of [3, 1, 2]) journal.append(entry("", String(atMs), { atMs }));
  await pass(1_000);
  expect(actions().slice(1)).toEqual(["1", "2", "3"]);
});

it("trims the store each minute", async () => {
  await pass(120_000);
  expect(trims).toBe(2);
});

it("trims the store after 1,000 entries", async () => {
  for (let flush = 0; flush < 6; flush++) {
    expect(trims).toBe(0);
    for (let index = 0; index < 180; index++) journal.append(entry(""));
    await pass(1_000);
  }
  expect(trims).toBe(1);
});

it("takes nothing after it was closed", async () => {
  await flushFirst();
  await journal.close();
  journal.append(entry("", "late"));
  (journal as Journal).count("dropped");
  await pass(5_000);
  expect(actions()).toEqual(["first"]);
});

async function flushFirst(): Promise<void> {
  journal.append(entry("", "first"));
  await pass(0);
}
