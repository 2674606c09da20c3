import type { Client } from "pg";
import type { Count } from "../../core/door";
import { hashText } from "../../kit/hash";
import { settleWithin } from "../../kit/closing";
import { rangeOfKeys } from "../event-key";
import { MAX_TIME_MS } from "../storage";
import type {
  Claims,
  ClaimedEvent,
  FailedRun,
  Hint,
  Member,
  NewEvent,
  NewStoredEntry,
  QueueStats,
  Run,
  Storage,
  StoredDeadGroup,
  StoredDeadLetter,
  StoredDeadLetterChoice,
  StoredOutcome,
  StoredState,
  StoredText,
  TextKind,
  TextSlice,
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
import { PURGED_ROWS, writeStatements } from "./statements";

/** Longer than a store takes: events are committed in another order than their times. */
const MARGIN_MS = 1_000;
/** How soon an event is found that is due since before the mark, or whose claim had no reply. */
const READ_ALL_MS = 1_000;

const OUT_OF_RANGE = "22003";
/** Another program, such as a replication, took the next id. */
const ID_TAKEN = "23505";
const CLOSE_MS = 250;
/** The length of a key of an event. */
const KEY_DIGITS = 32;
/** Less than any id and any key. */
const BEFORE_ALL = String(-(2n ** 63n));
const BEFORE_ALL_KEYS = "0".repeat(32);
/** A crash of Postgres may undo claims and beats. */
const LISTENING =
  "set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3; set synchronous_commit = off";

/** The storage of a queue in Postgres. One connection listens, claims and beats; a pool runs the rest. */
export class ServerStorage implements Storage, Claims {
  readonly title = "Postgres";
  readonly outageCode = "POSTGRES_UNREACHABLE";
  readonly #settings: PostgresSettings;
  readonly #channel: string;
  /** Marks the notifications of this process. */
  readonly #sender = crypto.randomUUID().slice(0, 8);
  readonly #statements: ReturnType<typeof writeStatements>;
  readonly #connections: ReturnType<typeof createServerConnections>;
  /**
   * When the last claimed event of a member was due, from where its next claim reads, and when all was
   * read last. While a transaction of another program is open, Postgres keeps the rows of all claimed
   * events: a claim of all would read them.
   */
  readonly #marks = new Map<number, { lastRunAtMs: number; readAllAtMs: number }>();
  #queue = 0;
  /** The connection that listens. */
  #listening: { client: Client; destroy: () => void } | undefined;
  /** Resolves after the last statement on it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: PostgresSettings) {
    const { name, schema } = settings;
    this.#settings = settings;
    this.#channel = `push_${hashText(`${schema}:${name}`).slice(0, 24)}`;
    this.#statements = writeStatements(`"${schema}"`, this.#channel, this.#sender);
    this.#connections = createServerConnections(settings);
  }

  async connect(onHint: (hint: Hint) => void): Promise<{ ended: Promise<Error> }> {
    const opened = this.#connections.createClient();
    const { client, destroy } = opened;
    let failure = new Error("The connection to Postgres ended.");
    client.on("error", (error) => (failure = error));
    const ended = new Promise<Error>((resolve) => {
      client.once("end", () => {
        if (this.#listening === opened) this.#listening = undefined;
        resolve(failure);
      });
    });
    let isConnected = false;
    try {
      await client.connect();
      isConnected = true;
      await this.#prepare(client);
    } catch (error) {
      // First: it looks whether the server ended the connection.
      const rejection = findRejection(error, isConnected ? undefined : opened);
      destroy();
      throw rejection ?? toNeutralError(error);
    }
    client.on("notification", ({ payload = "" }) => {
      const [from, events, keys = ""] = payload.split(" ");
      if (from === this.#sender) return;
      onHint({ hasEvents: events !== "", outcomes: keys === "" ? [] : keys.split(",") });
    });
    this.#listening = opened;
    this.#last = Promise.resolve();
    return { ended };
  }

  async close(): Promise<void> {
    const ending = this.#listening?.client.end().catch(() => {});
    // A Postgres that is frozen does not end the connection.
    if (ending !== undefined) await settleWithin(ending, { deadlineMs: CLOSE_MS });
    this.#connections.close();
  }

  async store(events: readonly NewEvent[]): Promise<string[]> {
    const { dedupeTtlMs, outcomeTtlMs } = this.#settings;
    const kept = new Map<string, string>();
    for (let missing = events; missing.length > 0;) {
      const columns = [
        missing.map(({ key }) => key),
        missing.map(({ content }) => content),
        missing.map(({ uuidHash }) => uuidHash),
        missing.map(({ body }) => body),
        missing.map(({ outcome }) => outcome?.key ?? null),
        missing.map(({ outcome }) => outcome?.value ?? null),
      ].map(writeArray);
      const values = [...columns, dedupeTtlMs, outcomeTtlMs, this.#queue];
      const [found] = await this.#run<{ existing: string; kept: string }>("store", ...values);
      // New ones come last: they replace expired ones.
      for (const pairs of [found?.existing, found?.kept]) {
        for (const pair of pairs?.split(",") ?? []) {
          kept.set(pair.slice(0, KEY_DIGITS), pair.slice(KEY_DIGITS));
        }
      }
      // Another process stored these meanwhile: the next statement sees them.
      missing = missing.filter(({ key }) => !kept.has(key));
    }
    return events.map(({ key }) => kept.get(key) ?? "");
  }

  record(outcomes: readonly StoredOutcome[]) {
    return this.#run("record", JSON.stringify(outcomes), this.#settings.outcomeTtlMs);
  }

  outcomes(keys: readonly string[]) {
    return this.#run<StoredOutcome>("outcomes", keys);
  }

  async claim(owner: number, held: readonly number[], count: number): Promise<ClaimedEvent[]> {
    const unread = { lastRunAtMs: 0, readAllAtMs: Number.NEGATIVE_INFINITY };
    const mark = this.#marks.get(owner) ?? unread;
    this.#marks.set(owner, mark);
    const nowMs = performance.now();
    const isAll = nowMs - mark.readAllAtMs >= READ_ALL_MS;
    if (isAll) mark.readAllAtMs = nowMs;
    const lost = isAll ? await this.#runUndoable<ClaimedEvent>("findOwned", owner, held) : [];
    const wanted = count - lost.length;
    if (wanted <= 0) return lost;
    const fromAtMs = isAll ? 0 : mark.lastRunAtMs - MARGIN_MS;
    const values = [owner, held, wanted, fromAtMs, this.#queue];
    const due = await this.#runUndoable<ClaimedEvent & { runAtMs: number }>("claim", ...values);
    const claimed = [...lost, ...due];
    const safe = claimed.filter(({ id }) => Number.isSafeInteger(id));
    if (safe.length < claimed.length) await this.#run("bury", this.#queue);
    mark.lastRunAtMs = due.at(-1)?.runAtMs ?? mark.lastRunAtMs;
    return safe;
  }

  finish(runs: readonly Run[]) {
    return this.#run("finish", JSON.stringify(runs));
  }

  async fail(runs: readonly FailedRun[]): Promise<number[]> {
    const dead = await this.#run<{ id: number }>("fail", JSON.stringify(runs));
    return dead.map(({ id }) => id);
  }

  beat(members: readonly Member[]) {
    return this.#runUndoable("beat", JSON.stringify(members), this.#queue);
  }

  async leave({ id }: Member): Promise<void> {
    this.#marks.delete(id);
    await this.#runUndoable("forgetMember", id);
    await this.#runUndoable("giveBack", id);
  }

  deadLetters(
    { failure, newestFirst }: StoredDeadLetterChoice,
    after?: StoredDeadLetter,
  ): Promise<StoredDeadLetter[]> {
    const start = newestFirst ? MAX_TIME_MS + 1 : 0;
    const position = [after?.atMs ?? start, after?.id ?? "0", this.#queue];
    return failure === undefined
      ? this.#run(newestFirst ? "newestDeadLetters" : "deadLetters", ...position)
      : this.#run(newestFirst ? "newestDeadLettersOf" : "deadLettersOf", ...position, failure);
  }

  deadGroups() {
    return this.#run<StoredDeadGroup>("deadGroups", this.#queue);
  }

  find(uuidHash: string) {
    return this.#run<StoredState>("find", uuidHash, ...rangeOfKeys(uuidHash), this.#queue);
  }

  retry(ids: readonly string[]) {
    return this.#count("retry", ids, this.#queue);
  }

  discard(ids: readonly string[]) {
    return this.#count("discard", ids, this.#queue);
  }

  async scan(kind: TextKind, from?: string): Promise<TextSlice> {
    const texts = await {
      event: () => this.#run<StoredText>("scanEvents", from ?? BEFORE_ALL, this.#queue),
      outcome: () => this.#run<StoredText>("scanOutcomes", from ?? BEFORE_ALL_KEYS),
      entry: () => this.#run<StoredText>("scanEntries", from ?? BEFORE_ALL, this.#queue),
    }[kind]();
    return { texts, next: texts.at(-1)?.id };
  }

  erase(kind: TextKind, ids: readonly string[]) {
    return {
      event: () => this.#run("eraseEvents", ids, this.#queue),
      outcome: () => this.#run("eraseOutcomes", ids),
      entry: () => this.#run("eraseEntries", ids, this.#queue),
    }[kind]();
  }

  appendEntries(entries: readonly NewStoredEntry[], counts: readonly Count[]): Promise<unknown> {
    const values = [JSON.stringify(entries), JSON.stringify(counts)];
    return this.#run("appendEntries", ...values, this.#queue);
  }

  readCounts(fromMs: number): Promise<Count[]> {
    return this.#run<Count>("readCounts", fromMs, this.#queue);
  }

  async trimEntries(): Promise<void> {
    await this.#run("trimEntries", this.#queue);
    await this.#run("trimCounts", this.#queue);
  }

  async secret(candidate: string): Promise<string> {
    const [row] = await this.#run<{ secret: string }>("secret", candidate, this.#queue);
    return row?.secret ?? candidate;
  }

  async stats(): Promise<QueueStats> {
    return (await this.#run<QueueStats>("stats", this.#queue))[0] as QueueStats;
  }

  async purge(): Promise<boolean> {
    const { dedupeTtlMs, outcomeTtlMs } = this.#settings;
    await this.#run("releaseOrphans", this.#queue);
    const uuids = await this.#count("purge", dedupeTtlMs);
    const outcomes = await this.#count("purgeOutcomes", outcomeTtlMs);
    return Math.max(uuids, outcomes) === PURGED_ROWS;
  }

  async #prepare(client: Client): Promise<void> {
    const statements = this.#statements;
    await checkDurability(client, this.#settings);
    await assertNotPooled(client, this.#connections.createClient().client);
    this.#queue = await prepareSchema(client, this.#settings, Object.values(statements));
    await client.query(`${SESSION}; ${LISTENING}; listen "${this.#channel}"`);
    await assertCommitted(client, statements.forgetMember);
  }

  #nameOf(statement: Name) {
    return { name: `push_${statement}`, text: this.#statements[statement] };
  }

  #run<Row extends object>(statement: Name, ...values: unknown[]): Promise<Row[]> {
    return this.#connections
      .query<Row>(this.#nameOf(statement), values)
      .catch(async (error: unknown) => {
        await this.#mendRows(error);
        throw toNeutralError(error);
      });
  }

  async #count(statement: Name, ...values: unknown[]): Promise<number> {
    const [row] = await this.#run<{ count: number }>(statement, ...values);
    return row?.count ?? 0;
  }

  /** Runs a statement on the connection that listens, after the last one: pg queues none. */
  async #runUndoable<Row extends object>(statement: Name, ...values: unknown[]): Promise<Row[]> {
    const on = this.#listening;
    if (on === undefined) throw new Error("Postgres is not connected.");
    const named = { ...this.#nameOf(statement), values };
    const result = this.#last.then(() => on.client.query<Row>(named));
    this.#last = result.catch(() => {});
    try {
      return (await result).rows;
    } catch (error) {
      if (isConnectionLost(error)) on.destroy();
      await this.#mendRows(error);
      throw toNeutralError(error);
    }
  }

  /** Mends what the rows of other programs make fail; the caller runs its statement again. */
  async #mendRows(error: unknown): Promise<void> {
    const { code } = error as { code?: unknown };
    const { query } = this.#connections;
    if (code === OUT_OF_RANGE) await query(this.#nameOf("bury"), [this.#queue]);
    if (code === ID_TAKEN) await query(this.#nameOf("advanceIds"), []);
  }
}

/** Writes texts of printable ASCII characters as an array, which JSON escapes as Postgres does. */
function writeArray(texts: readonly (string | null)[]): string {
  return `{${JSON.stringify(texts).slice(1, -1)}}`;
}

type Name = keyof ReturnType<typeof writeStatements>;
