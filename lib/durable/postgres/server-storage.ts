import type { Client } from "pg";
import { hashText } from "../../kit/hash";
import { settleWithin } from "../../kit/closing";
import { rangeOfKeys } from "../event-key";
import type {
  Claims,
  ClaimedEvent,
  Hint,
  QueueStats,
  Storage,
  StoredDeadLetter,
  StoredOutcome,
  StoredState,
} from "../storage";
import { createServerConnections, SESSION } from "./connections";
import type { PostgresSettings } from "./options";
import { prepareSchema } from "./schema";
import {
  assertCommitted,
  assertNotPooled,
  checkDurability,
  findRejection,
  isConnectionLost,
  toNeutralError,
} from "./setup";
import { writeStatements } from "./statements";

/** Longer than storing an event takes: events are committed in another order than their times. */
const MARGIN_MS = 1_000;
/** An event that became due at an earlier time, or was claimed unknown to the member, is found within this time. */
const READ_ALL_MS = 1_000;

/** A number does not fit into its type. */
const OUT_OF_RANGE = "22003";
const CLOSE_MS = 250;
/** Commits of claims and beats need not wait for the disk: a crash of Postgres may undo them. */
const LISTENING =
  "set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3; set synchronous_commit = off";

/**
 * Creates the storage of a queue in Postgres. One connection listens, claims and beats; a pool runs
 * the statements that must be durable.
 */
export function createServerStorage(settings: PostgresSettings): Storage & Claims {
  const { name, schema, dedupeTtlMs, outcomeTtlMs } = settings;
  const channel = `push_${hashText(`${schema}:${name}`).slice(0, 24)}`;
  const sender = crypto.randomUUID().slice(0, 8);
  const statements = writeStatements(`"${schema}"`, channel, sender);
  const connections = createServerConnections(settings);
  /**
   * Where the next claim of a member begins to read: when the last claimed event was due, and when
   * everything was read last. While a transaction of another program is open, Postgres keeps the rows
   * of all events that were claimed since: a claim of all would read them.
   */
  const marks = new Map<number, { lastRunAtMs: number; readAllAtMs: number }>();
  let queue = 0;
  let listening: { client: Client; destroy: () => void } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const nameOf = (statement: Name) => ({
    name: `push_${statement}`,
    text: statements[statement],
  });

  /** Makes dead letters of rows that other programs wrote; the caller runs its statement again. */
  async function explain(error: unknown): Promise<never> {
    const { code } = error as { code?: unknown };
    if (code === OUT_OF_RANGE) await connections.query(nameOf("bury"), [queue]);
    throw toNeutralError(error);
  }

  const run = <Row extends object>(statement: Name, ...values: unknown[]) =>
    connections.query<Row>(nameOf(statement), values).catch(explain);

  /** Runs a statement on the connection that listens, after those that run: pg queues none. */
  async function runUndoable<Row extends object>(
    statement: Name,
    ...values: unknown[]
  ): Promise<Row[]> {
    const on = listening;
    if (on === undefined) throw new Error("Postgres is not connected.");
    const result = last.then(() => on.client.query<Row>({ ...nameOf(statement), values }));
    last = result.catch(() => {});
    try {
      return (await result).rows;
    } catch (error) {
      // Without a response the connection is of no use. A new one finds out why Postgres is read-only.
      if (isConnectionLost(error)) on.destroy();
      return explain(error);
    }
  }

  async function connect(onHint: (hint: Hint) => void): Promise<{ ended: Promise<Error> }> {
    const opened = connections.createClient();
    const { client, destroy } = opened;
    let failure = new Error("The connection to Postgres ended.");
    client.on("error", (error) => (failure = error));
    const ended = new Promise<Error>((resolve) => {
      client.once("end", () => {
        if (listening === opened) listening = undefined;
        resolve(failure);
      });
    });
    try {
      await client.connect();
      await checkDurability(client, settings);
      await assertNotPooled(client, connections.createClient().client);
      queue = await prepareSchema(client, settings, Object.values(statements));
      await client.query(`${SESSION}; ${LISTENING}; listen "${channel}"`);
      await assertCommitted(client, statements.forgetMember);
    } catch (error) {
      destroy();
      throw findRejection(error) ?? toNeutralError(error);
    }
    client.on("notification", ({ payload = "" }) => {
      const [from, events, keys = ""] = payload.split(" ");
      if (from === sender) return;
      onHint({ hasEvents: events !== "", outcomes: keys === "" ? [] : keys.split(",") });
    });
    listening = opened;
    last = Promise.resolve();
    return { ended };
  }

  return {
    title: "Postgres",
    outageCode: "POSTGRES_UNREACHABLE",
    connect,
    async close() {
      const ending = listening?.client.end().catch(() => {});
      // A Postgres that is frozen does not end the connection.
      if (ending !== undefined) await settleWithin(ending, { deadlineMs: CLOSE_MS });
      connections.close();
    },
    async store(events) {
      const kept = new Map<string | null, string>();
      for (let missing = events; missing.length > 0;) {
        const values = [JSON.stringify(missing), dedupeTtlMs, outcomeTtlMs, queue];
        const found = await run<{ key: string | null; content: string }>("store", ...values);
        for (const { key, content } of found) kept.set(key, content);
        // Another process stored these after the statement began: the next statement sees them.
        missing = missing.filter(({ key }) => !kept.has(key));
      }
      return events.map(({ key }) => kept.get(key) ?? "");
    },
    record: (outcomes) => run("record", JSON.stringify(outcomes), outcomeTtlMs),
    outcomes: (keys) => run<StoredOutcome>("outcomes", keys),
    async claim(owner, held, count) {
      const mark = marks.get(owner) ?? { lastRunAtMs: 0, readAllAtMs: Number.NEGATIVE_INFINITY };
      marks.set(owner, mark);
      const nowMs = performance.now();
      const isAll = nowMs - mark.readAllAtMs >= READ_ALL_MS;
      if (isAll) mark.readAllAtMs = nowMs;
      const lost = isAll ? await runUndoable<ClaimedEvent>("findOwned", owner, held) : [];
      const wanted = count - lost.length;
      if (wanted <= 0) return lost;
      const fromAtMs = isAll ? 0 : mark.lastRunAtMs - MARGIN_MS;
      const values = [owner, held, wanted, fromAtMs, queue];
      const due = await runUndoable<ClaimedEvent & { runAtMs: number }>("claim", ...values);
      const claimed = [...lost, ...due];
      const safe = claimed.filter(({ id }) => Number.isSafeInteger(id));
      if (safe.length < claimed.length) await run("bury", queue);
      mark.lastRunAtMs = due.at(-1)?.runAtMs ?? mark.lastRunAtMs;
      return safe;
    },
    finish: (runs) => run("finish", JSON.stringify(runs)),
    async fail(runs) {
      const dead = await run<{ id: number }>("fail", JSON.stringify(runs));
      return dead.map(({ id }) => id);
    },
    beat: (members) => runUndoable("beat", JSON.stringify(members), queue),
    async leave({ id }) {
      marks.delete(id);
      await runUndoable("forgetMember", id);
      await runUndoable("giveBack", id);
    },
    deadLetters: (after) =>
      run<StoredDeadLetter>("deadLetters", after?.atMs ?? 0, after?.id ?? "0", queue),
    find: (uuidHash) => run<StoredState>("find", uuidHash, ...rangeOfKeys(uuidHash), queue),
    retry: async (ids) => (await run<Count>("retry", ids, queue))[0]?.count ?? 0,
    discard: async (ids) => (await run<Count>("discard", ids, queue))[0]?.count ?? 0,
    stats: async () => (await run<QueueStats>("stats", queue))[0] as QueueStats,
    async purge() {
      await run("releaseOrphans", queue);
      await run("purge");
      await run("purgeOutcomes");
    },
  };
}

type Name = keyof ReturnType<typeof writeStatements>;
type Count = { count: number };
