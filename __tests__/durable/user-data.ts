/** What a queue holds of a user is counted and erased, on each engine. */
import { createHandlers, PermanentError, type PushEvent } from "express-push-verification";
import type { DurableQueue, QueueUser, UserData } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import type { QueuedEvent } from "../../lib/core/delivery/event-queue";
import { queuedEvent, sidOf, untilStats, waitForOutcome } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { loggerOf } from "../support/receivers";
import { collect, createGate, until } from "../support/waiting";

const ACCOUNTS = ["1", "2"].map((digit) => `AC${digit.repeat(32)}`) as [string, string];
const ADA = { accountSid: ACCOUNTS[0], entityIdentity: "Zoë\u0000 🔑'\"\\*?[a]%_" };
const OTHERS: QueueUser[] = [
  { ...ADA, accountSid: ACCOUNTS[1] },
  { ...ADA, entityIdentity: "bob" },
];
const USERS = [ADA, ...OTHERS];
const NONE = { waiting: 0, active: 0, delayed: 0, deadLetters: 0, outcomes: 0, entries: 0 };
/** The journal notes the two failures. */
const HELD = { waiting: 0, active: 2, delayed: 1, deadLetters: 1, outcomes: 0, entries: 2 };
/** More than a slice of each engine, of all users together. */
const WAITING = 90;

export function describeUserData(engine: StoppableEngine): void {
  let lines: unknown[][];
  let queue: DurableQueue;

  beforeEach(async () => {
    lines = [];
    const logger = loggerOf((...line) => void lines.push(line));
    queue = engine.open({ attempts: 9, backoff: 3_600_000, logger });
    await queue.ready();
  });

  function eventOf(user: QueueUser, kind: string, index = 0): QueuedEvent {
    const named = {
      uuid: `${USERS.indexOf(user)} ${kind} ${index}`,
      account_sid: user.accountSid,
      entity_identity: user.entityIdentity,
    };
    const challenge_sid = sidOf(1_000 * USERS.indexOf(user) + index);
    const event =
      kind === "waiting"
        ? eventFixture("challenge.approved", { ...named, challenge_sid })
        : eventFixture("factor.created", named);
    return queuedEvent(event, { authenticatedAccount: user.accountSid });
  }

  const store = (queued: QueuedEvent) => queue.store(queued, Infinity);
  const storeAll = (kind: string, count = 1) =>
    Promise.all(
      USERS.flatMap((user) =>
        Array.from({ length: count }, (_, index) => store(eventOf(user, kind, index))),
      ),
    );
  const countAll = () => Promise.all(USERS.map((user) => queue.countUserData(user)));
  const wait = (user: QueueUser, timeoutMs?: number) =>
    waitForOutcome(queue, 1_000 * USERS.indexOf(user), timeoutMs, user.accountSid);

  it("erases events in each state, dead letters and outcomes of one user of one account", async () => {
    const gate = createGate();
    const handled: string[] = [];
    const failures: Record<string, Error> = {
      dead: new PermanentError("no"),
      delayed: new Error("later"),
      "0 active 0": new Error("later"),
      "0 active 1": new PermanentError("no"),
    };
    const handlers = createHandlers().onUnhandled(async (any) => {
      const { uuid } = any as PushEvent;
      const kind = uuid.split(" ")[1] ?? "";
      if (kind === "active") await gate.opened;
      const failure = failures[kind] ?? failures[uuid];
      if (failure !== undefined) throw failure;
      handled.push(uuid);
    });
    queue.work(handlers, { concurrency: 6, handlerTimeoutMs: 600_000 });
    for (const kind of ["dead", "delayed"]) await storeAll(kind);
    await untilStats(queue, { active: 0, deadLetters: 3, delayed: 3 });
    await until(async () => (await countAll()).every(({ entries }) => entries === 2));
    await storeAll("active", 2);
    await untilStats(queue, { active: 6 });
    await storeAll("waiting", WAITING);

    const full: UserData = { ...HELD, waiting: WAITING, outcomes: WAITING };
    expect(await countAll()).toEqual([full, full, full]);
    expect(await queue.eraseUserData(ADA)).toEqual(full);
    expect(await countAll()).toEqual([NONE, full, full]);
    expect(await queue.eraseUserData(ADA)).toEqual(NONE);

    for (const kind of ["dead", "delayed", "active", "waiting"]) {
      const erased = eventOf(ADA, kind);
      expect(await queue.find(erased.uuid)).toEqual({
        state: "discarded",
        attempts: 0,
        failures: [],
      });
      expect(await store(erased)).toBe("duplicate");
    }
    await expect(wait(ADA, 300)).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT" });
    for (const user of OTHERS) expect(await wait(user)).toMatchObject({ source: "webhook" });

    gate.open();
    await untilStats(queue, { waiting: 0, active: 0 });
    const uuidsOf = (kind: string, count: number) =>
      OTHERS.flatMap((user) =>
        Array.from({ length: count }, (_, index) => eventOf(user, kind, index).uuid),
      );
    const left = [...uuidsOf("active", 2), ...uuidsOf("waiting", WAITING)];
    // A process that stands still for seconds runs its handlers again.
    expect([...new Set(handled)].toSorted()).toEqual(left.toSorted());
    const deadLetters = await collect(queue.deadLetters());
    expect(deadLetters.map(({ uuid }) => uuid).toSorted()).toEqual(["1 dead 0", "2 dead 0"]);
    // Its handlers ran to their end, which is noted.
    const ended = { entries: expect.any(Number) as number };
    const others = { ...NONE, delayed: 1, deadLetters: 1, outcomes: WAITING, ...ended };
    expect(await countAll()).toEqual([{ ...NONE, ...ended }, others, others]);
    for (const line of lines) expect(JSON.stringify(line)).not.toContain("Zoë");
  });

  it("erases an event whose dead letter was retried", async () => {
    const handlers = createHandlers().onUnhandled(() => {
      throw new PermanentError("no");
    });
    const worker = queue.work(handlers);
    await storeAll("dead");
    await untilStats(queue, { deadLetters: 3 });
    await worker.close();
    expect(await queue.retryAll()).toBe(3);
    // It died, and was retried.
    const once = { ...NONE, waiting: 1, entries: 2 };
    expect(await queue.eraseUserData(ADA)).toEqual(once);
    expect(await countAll()).toEqual([NONE, once, once]);
  });
}
