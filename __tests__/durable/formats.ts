/**
 * Stores of other versions of the package. `__tests__/fixtures/stores` has a small one of each format,
 * written by its version: after a change of a format, `PUSH_TEST_WRITE_STORES=1` writes the new one.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  createHandlers,
  PermanentError,
  type Pair,
  type PushEvent,
  type PushEventType,
} from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import type { QueuedEvent } from "../../lib/core/delivery/event-queue";
import { parseEvent } from "../../lib/core/event/parse";
import { EVENT_FORMAT } from "../../lib/durable/event-migration";
import { version } from "../../package.json";
import { queuedEvent, sidOf, untilStats, waitForOutcome } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { collect, until } from "../support/waiting";

const FOLDER = join(__dirname, "..", "fixtures", "stores");
const YEARS_MS = 100 * 365 * 86_400_000;
const KEPT = { dedupeTtlMs: YEARS_MS, outcomeTtlMs: 2 * YEARS_MS, attempts: 2, backoff: 10 };
const context = {
  receiver: "shop",
  authenticatedAccount: "AC-kept",
  authTokenIndex: 1,
  publicUrlIndex: 2,
};
/** Not those of `eventFixture`: what the stores of earlier formats hold never changes. */
const eventOf = (type: PushEventType, uuid: string, ...more: Pair[]) =>
  parseEvent([
    ["uuid", uuid],
    ["type", type],
    ["account_sid", `AC${"1".repeat(32)}`],
    ["service_sid", `VA${"2".repeat(32)}`],
    ["entity_identity", "ada-lovelace"],
    ["factor_sid", `YF${"3".repeat(32)}`],
    ["factor_type", "push"],
    ["factor_friendly_name", "Zoë's phone"],
    ...more,
  ]) as PushEvent;
const factor = (uuid: string) => queuedEvent(eventOf("factor.created", uuid), context);
const challenge = (uuid: string, index: number, more: Partial<QueuedEvent> = {}) =>
  queuedEvent(eventOf("challenge.approved", uuid, ["challenge_sid", sidOf(index)]), {
    ...context,
    ...more,
  });
/** The events of a fixture; all but the first are still to be handled. */
const EVENTS = [
  factor("handled"),
  factor("dead"),
  challenge("approved", 1),
  challenge("unconfirmed", 2, { needsConfirmation: true, ambiguity: "why" }),
];

export function describeFormats(engine: StoppableEngine): void {
  const { kind, format } = engine;
  const store = (queue: DurableQueue, queued: QueuedEvent) => queue.store(queued, Infinity);
  const wait = (queue: DurableQueue, index: number) =>
    waitForOutcome(queue, index, 60_000, context.authenticatedAccount);

  /** Runs the handlers of what waits; those of one uuid fail. */
  async function handle(queue: DurableQueue, failing = ""): Promise<string[]> {
    const handled: string[] = [];
    const handlers = createHandlers().onAny(({ uuid }, { attempt, receiver, ...indexes }) => {
      if (uuid === failing) throw new PermanentError("no such user");
      handled.push(`${uuid} ${attempt} ${receiver} ${indexes.authTokenIndex}`);
    });
    const worker = queue.work(handlers, {
      confirm: (_event, { ambiguity }) => ambiguity === "why",
    });
    await untilStats(queue, { waiting: 0, active: 0, delayed: 0 });
    await worker.close();
    return handled.toSorted();
  }

  async function writeStore(path: string): Promise<void> {
    const queue = engine.open(KEPT);
    await queue.ready();
    for (const queued of EVENTS.slice(0, 2)) await store(queue, queued);
    await handle(queue, "dead");
    for (const queued of EVENTS.slice(2)) await store(queue, queued);
    await queue.close();
    writeFileSync(path, gzipSync(await format.dump()));
  }

  const own = `${kind}-1-${EVENT_FORMAT}.gz`;
  if (process.env.PUSH_TEST_WRITE_STORES === "1" && !existsSync(join(FOLDER, own))) {
    it(`writes ${own}`, () => writeStore(join(FOLDER, own)));
    return;
  }

  it.each(readdirSync(FOLDER).filter((file) => file.startsWith(kind)))(
    "goes on with the store %s: events, dead letters, outcomes, uuids",
    async (file) => {
      await format.restore(gunzipSync(readFileSync(join(FOLDER, file))));
      const queue = engine.open(KEPT);
      await queue.ready();
      for (const queued of EVENTS) expect(await store(queue, queued)).toBe("duplicate");
      expect(await wait(queue, 1)).toMatchObject({ type: "challenge.approved", source: "webhook" });
      const error = expect.stringContaining("no such user") as string;
      const dead = { uuid: "dead", receiver: "shop", event: EVENTS[1]?.event, error, attempts: 1 };
      expect(await collect(queue.deadLetters())).toMatchObject([dead]);
      const confirmed = wait(queue, 2);
      expect(await handle(queue)).toEqual(["approved 1 shop 1", "unconfirmed 1 shop 1"]);
      expect(await confirmed).toHaveProperty("challenge_sid", sidOf(2));
      expect(await queue.retryAll()).toBe(1);
      expect(await handle(queue)).toEqual(["dead 1 shop 1"]);
    },
  );

  const KNOWN = { schema: 1, events: EVENT_FORMAT };
  it.each<[what: string, numbers: Partial<typeof KNOWN>, error: "NEWER" | "OLDER"]>([
    ["schema is two newer", { schema: 3 }, "NEWER"],
    ["events are two newer", { events: EVENT_FORMAT + 2 }, "NEWER"],
    ["schema is older than the first", { schema: 0 }, "OLDER"],
  ])("refuses a store whose %s without changing it", async (_what, numbers, error) => {
    const first = engine.open();
    await store(first, factor("kept"));
    await first.close();
    await format.set({ ...KNOWN, ...numbers });
    const message = expect.stringContaining(version) as string;
    const refused = { name: "QueueError", code: `${format.codes}_${error}`, message };
    await expect(engine.open().ready()).rejects.toMatchObject(refused);
    await format.set(KNOWN);
    expect(await handle(engine.open())).toEqual(["kept 1 shop 1"]);
  });

  if (format.forget !== undefined) {
    it("refuses a store from before the first format by name", async () => {
      const first = engine.open();
      await first.ready();
      await first.close();
      await format.forget?.();
      const refused = { code: `${format.codes}_OLDER` };
      await expect(engine.open().ready()).rejects.toMatchObject(refused);
    });
  }

  it("is still used when the next version has migrated it", async () => {
    const before = engine.open();
    await store(before, factor("before"));
    expect(await format.migrate()).toBe("new");
    expect(await store(before, factor("beside"))).toBe("new");
    const after = engine.open();
    expect(await store(after, factor("after"))).toBe("new");
    const uuids = ["after", "before", "beside"];
    expect(await handle(after)).toEqual(uuids.map((uuid) => `${uuid} 1 shop 1`));
    // Once: the second process of the next version finds it migrated.
    await store(after, factor("again"));
    expect(await format.migrate()).toBe("new");
    await before.close();
    await until(async () => (await after.stats()).waiting === 1);
  });
}
