/** The journal that the processes of a queue share, on each engine. */
import { createHandlers, type PushEvent } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import type { Journal, NewEntry } from "../../lib/core/journal/journal";
import type { EntryKind, Storage } from "../../lib/durable/storage";
import { queuedEvent, untilStats } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { until } from "../support/waiting";

const DAY_MS = 86_400_000;
const range = (length: number) => Array.from({ length }, (_, index) => index);
const stored = (kind: EntryKind, share: string, texts: readonly string[]) =>
  texts.map((text) => ({ kind, share, text }));
const change = (action: string): NewEntry => {
  return { kind: "change", atMs: Date.now(), action, status: 200, share: "" };
};

async function readTexts(storage: Storage, position?: string) {
  const texts: string[] = [];
  let end = position;
  for (;;) {
    const slice = await storage.scan("entry", end);
    if (slice.texts.length === 0) return { texts, end };
    end = slice.texts.at(-1)?.id;
    texts.push(...slice.texts.map(({ text }) => text));
  }
}

async function readAll(journal: Journal) {
  const { entries } = await journal.read();
  return entries;
}

export function describeJournal(engine: StoppableEngine): void {
  it("has each entry once while several processes append", async () => {
    const [reader, ...writers] = await Promise.all(range(4).map(() => engine.openStorage()));
    const writing = writers.map(async (writer, one) => {
      for (const turn of range(30)) {
        const texts = range(3).map((index) => `${one} ${3 * turn + index}`);
        await writer.appendEntries(stored("step", `${one}`, texts), []);
      }
    });
    const written = Promise.all(writing).then(() =>
      reader!.appendEntries(stored("step", "", ["end"]), []),
    );
    const found: string[] = [];
    let position: string | undefined;
    while (found.at(-1) !== "end") {
      const { texts, end } = await readTexts(reader!, position);
      found.push(...texts);
      position = end;
    }
    await written;
    for (const one of range(3)) {
      const own = found.filter((text) => text.startsWith(`${one} `));
      expect(own).toEqual(range(90).map((index) => `${one} ${index}`));
    }
  });

  it("drops the oldest of the largest share beyond 2,000 of a kind", async () => {
    const storage = await engine.openStorage();
    const listed = (name: string, count: number) => range(count).map((index) => `${name} ${index}`);
    const small = listed("small", 10);
    await storage.appendEntries(stored("rejected", "small", small), []);
    const flood = listed("large", 2_500);
    await storage.appendEntries(stored("rejected", "large", flood), []);
    await storage.appendEntries(stored("accepted", "small", listed("good", 2_000)), []);
    await storage.trimEntries();
    expect((await storage.scan("entry")).texts).toHaveLength(1_000);
    const { texts } = await readTexts(storage);
    const kept = [...small, ...flood.slice(-1_990), ...listed("good", 2_000)];
    expect(texts).toEqual(kept);
  });

  it("keeps entries and counts for 24 hours", async () => {
    const storage = await engine.openStorage();
    const minuteMs = Math.floor(Date.now() / 60_000) * 60_000;
    const old = { minuteMs: minuteMs - DAY_MS, name: "result:stored", count: 1 } as const;
    const kept = { ...old, minuteMs: old.minuteMs + 120_000 };
    const added = { ...old, minuteMs, name: "dropped" } as const;
    const readAfter = async (ms: number) => {
      await engine.passTime(ms);
      await storage.trimEntries();
      return (await readTexts(storage)).texts;
    };
    await storage.appendEntries(stored("step", "", ["old"]), [old]);
    expect(await storage.readCounts(0)).toEqual([]);
    expect(await readAfter(DAY_MS - 120_000)).toEqual(["old"]);
    await storage.appendEntries(stored("step", "", ["new"]), [added, kept]);
    expect(await readAfter(120_000)).toEqual(["new"]);
    expect(await storage.readCounts(0)).toEqual([kept, added]);
    expect(await storage.readCounts(minuteMs)).toEqual([added]);
    // Redis ends a key by its own clock.
    if (engine.kind !== "redis") expect(await readAfter(-2 * DAY_MS)).toEqual([]);
  });

  it("has one secret for all processes", async () => {
    const journals = range(2).map(() => engine.open().journal!);
    const names = await Promise.all(journals.map((one) => one.createPseudonym("ada")));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).not.toBe(await journals[0]!.createPseudonym("bob"));
  });

  it("adds the counts of all processes", async () => {
    const journals = range(2).map(() => engine.open().journal!);
    for (const one of journals) {
      // The start of the process is the first of the 200 that it keeps.
      for (const index of range(210)) one.append(change(String(index)));
      one.count("result:stored", "token:AC1:0", "result:stored", "dropped");
    }
    const [reader] = journals;
    const sums = async () => {
      const counts = new Map<string, number>();
      for (const { name, count } of await reader!.readCounts())
        counts.set(name, (counts.get(name) ?? 0) + count);
      return Object.fromEntries(counts);
    };
    await until(async () => (await sums())["token:AC1:0"] === 2);
    expect(await sums()).toEqual({ "result:stored": 4, "token:AC1:0": 2, dropped: 24 });
  });

  it("has the steps of an event without its values", async () => {
    const queue = engine.open({ attempts: 2, backoff: 1 });
    const event = eventFixture("factor.created", { uuid: "a", entity_identity: "ada-lovelace" });
    let fails = true;
    const handlers = createHandlers().onUnhandled((any) => {
      if (fails) throw new Error(`no account of ${(any as PushEvent).entity_identity}`);
    });
    const worker = queue.work(handlers);
    for (const uuid of ["a", "b"]) {
      await queue.store(
        queuedEvent(
          {
            ...event,
            uuid,
            params: [...event.params.filter(([name]) => name !== "uuid"), ["uuid", uuid]],
          },
          { authenticatedAccount: "own" },
        ),
        Infinity,
      );
    }
    await untilStats(queue, { deadLetters: 2 });
    fails = false;
    expect(await queue.retry("a")).toBe(true);
    expect(await queue.discard("b", { by: "eve" })).toBe(true);
    await untilStats(queue, { waiting: 0, active: 0 });
    await worker.close();
    const journal = queue.journal!;
    const ofUuid = async (uuid: string) =>
      (await readAll(journal)).filter((one) => "uuid" in one && one.uuid === uuid);
    await until(async () => (await ofUuid("a")).length >= 4 && (await ofUuid("b")).length >= 3);
    const person = await journal.createPseudonym("ada-lovelace");
    const common = {
      kind: "step",
      uuid: "a",
      accountSid: event.account_sid,
      person,
      process: expect.stringContaining(" on ") as string,
    };
    const error = "HANDLER_FAILED: no account of <entity_identity>";
    const durationMs = expect.any(Number) as number;
    expect(await ofUuid("a")).toMatchObject([
      { ...common, what: "failed", attempt: 1, error, durationMs },
      { ...common, what: "dead", attempt: 2, error },
      { ...common, what: "retried" },
      { ...common, what: "handled", attempt: 1, durationMs },
    ]);
    expect((await ofUuid("b")).map((one) => "what" in one && one.what)).toEqual([
      "failed",
      "dead",
      "discarded",
    ]);
    expect(JSON.stringify(await readAll(journal))).not.toContain("lovelace");
    const counts = await journal.readCounts();
    const sumOf = (wanted: string) =>
      counts.reduce((sum, { name, count }) => (name === wanted ? sum + count : sum), 0);
    expect(sumOf("attempt:failed")).toBe(4);
    expect(sumOf("attempt:handled")).toBe(1);
  });

  it("is not kept without the option journal", async () => {
    const queue = engine.open({ journal: false });
    expect(queue.journal).toBeUndefined();
    queue.work(createHandlers().onAny(() => {}));
    await queue.store(queuedEvent(eventFixture("factor.created")), Infinity);
    await untilStats(queue, { waiting: 0, active: 0 });
    await queue.close();
    expect((await readTexts(await engine.openStorage())).texts).toEqual([]);
  });
}
