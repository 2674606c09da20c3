import type { Count } from "../../core/door";
import { MAX_TIME_MS } from "../storage";
import type {
  ClaimedEvent,
  Claims,
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
import { rangeOfKeys } from "../event-key";
import type { SqliteConnection, PreparedStatement } from "./node-sqlite";
import type { SqliteSettings } from "./options";
import { PURGED_ROWS, RESET_IDS, STATEMENTS } from "./statements";

/** The methods that the thread runs: as a read, or in a transaction that a power cut may undo or not. */
export const METHODS = {
  store: "durable",
  record: "durable",
  outcomes: "read",
  claim: "undoable",
  finish: "durable",
  fail: "durable",
  beat: "undoable",
  leave: "undoable",
  deadLetters: "read",
  deadGroups: "read",
  find: "read",
  retry: "durable",
  discard: "durable",
  scan: "read",
  erase: "durable",
  appendEntries: "undoable",
  readCounts: "read",
  trimEntries: "undoable",
  secret: "durable",
  stats: "read",
  purge: "undoable",
} as const satisfies Partial<Record<keyof (Storage & Claims), "durable" | "undoable" | "read">>;

/** A method of {@link METHODS}. */
export type MethodName = keyof typeof METHODS;

type Operations = {
  [Name in MethodName]: (
    ...args: Parameters<(Storage & Claims)[Name]>
  ) => Awaited<ReturnType<(Storage & Claims)[Name]>>;
};

/** A file keeps up to 4 MiB of free pages, and gives a tenth back at a time. */
const FREE_PAGES = 1_000;
const FREED_PAGES = 100;
/** Stores wait for a slice of a purge, and for its last statement and commit. */
const SLICE_MS = 5;
/** Less than any id. */
const BEFORE_ALL = -(2n ** 63n);

const toBytes = (hex: string) => Buffer.from(hex, "hex");
const toHex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString("hex");

/** The statements name the columns as the storage does. */
const rows = <Row>(found: unknown[]) => found as Row[];

const countOf = ({ changes }: { changes: number | bigint }) => Number(changes);
const isFull = (result: { changes: number | bigint }) => countOf(result) === PURGED_ROWS;

/** The methods of the storage on an open file, and some of the thread. */
export class FileOperations implements Operations {
  readonly #connection: SqliteConnection;
  readonly #ttls: Pick<SqliteSettings, "dedupeTtlMs" | "outcomeTtlMs">;
  readonly #readMs: () => number;
  readonly #sql: Record<keyof typeof STATEMENTS, PreparedStatement>;
  #lastOutcomeId: number;

  constructor(
    connection: SqliteConnection,
    ttls: Pick<SqliteSettings, "dedupeTtlMs" | "outcomeTtlMs">,
    readMs = () => performance.now(),
  ) {
    this.#connection = connection;
    this.#ttls = ttls;
    this.#readMs = readMs;
    // BigInt: SQLite takes a number for a real one.
    connection.function("now_ms", { deterministic: true }, () => BigInt(Date.now()));
    this.#sql = Object.fromEntries(
      Object.entries(STATEMENTS).map(([name, text]) => [name, connection.prepare(text)]),
    ) as Record<keyof typeof STATEMENTS, PreparedStatement>;
    this.#lastOutcomeId = this.#readLastOutcomeId();
  }

  store(events: readonly NewEvent[]): string[] {
    const sql = this.#sql;
    return events.map(({ key, content, uuidHash, body, outcome }) => {
      const kept = sql.findDelivery.get(toBytes(key));
      if (kept !== undefined) return toHex(kept.content);
      const added = sql.store.run(toBytes(key), toBytes(content), this.#ttls.dedupeTtlMs);
      sql.storeEvent.run(Number(added.lastInsertRowid), toBytes(uuidHash), body);
      if (outcome !== undefined) this.#record(outcome);
      return content;
    });
  }

  record(outcomes: readonly StoredOutcome[]): void {
    for (const outcome of outcomes) this.#record(outcome);
  }

  outcomes(keys: readonly string[]): StoredOutcome[] {
    return keys.flatMap((key) => {
      const row = this.#sql.outcomes.get(toBytes(key));
      return row === undefined ? [] : [{ key, value: String(row.value) }];
    });
  }

  claim(owner: number, held: readonly number[], wanted: number): ClaimedEvent[] {
    const sql = this.#sql;
    if (sql.isMember.get(owner) === undefined) return [];
    const ids = JSON.stringify(held);
    const lost = rows<ClaimedEvent>(sql.findOwned.all(owner, ids));
    const count = Math.max(0, wanted - lost.length);
    const due = rows<ClaimedEvent>(sql.findDue.all(ids, count));
    for (const { id } of due) sql.claim.run(owner, id);
    return [...lost, ...due];
  }

  finish(runs: readonly Run[]): void {
    for (const { id, started } of runs) this.#sql.finish.run(id, started);
  }

  fail(runs: readonly FailedRun[]): number[] {
    const sql = this.#sql;
    return runs.flatMap(({ id, started, failures, errors, pauseMs = null, isForged, ...run }) => {
      const { failure, person = null } = run;
      sql.fail.run(failures, errors, failure, person, pauseMs, pauseMs, pauseMs, id, started);
      if (isForged) sql.forgetDelivery.run(id);
      return pauseMs === null && sql.isDead.get(id, started) !== undefined ? [id] : [];
    });
  }

  beat(members: readonly Member[]): void {
    const sql = this.#sql;
    const isSetBack = sql.isClockSetBack.get() !== undefined;
    if (isSetBack) {
      sql.endPauses.run();
      sql.failNow.run();
    }
    for (const { id, isWorker } of members) sql.beat.run(id, Number(isWorker));
    if (members.some(({ id }) => sql.isOld.get(id) !== undefined)) {
      sql.release.run();
      sql.forgetDead.run();
    }
    // After the release: a beat of the future counts as none from now on.
    if (isSetBack) sql.expireFuture.run();
  }

  leave({ id }: Member): void {
    this.#sql.forgetMember.run(id);
    this.#sql.giveBack.run(id);
  }

  deadLetters(
    { failure, newestFirst }: StoredDeadLetterChoice,
    after?: StoredDeadLetter,
  ): StoredDeadLetter[] {
    const sql = this.#sql;
    const [all, some] = newestFirst
      ? [sql.newestDeadLetters, sql.newestDeadLettersOf]
      : [sql.deadLetters, sql.deadLettersOf];
    const start = newestFirst ? MAX_TIME_MS + 1 : 0;
    const position = [after?.atMs ?? start, BigInt(after?.id ?? 0)];
    return rows(failure === undefined ? all.all(...position) : some.all(failure, ...position));
  }

  deadGroups(): StoredDeadGroup[] {
    return rows(this.#sql.deadGroups.all());
  }

  find(uuidHash: string): StoredState[] {
    const range = rangeOfKeys(uuidHash).map(toBytes);
    return rows(this.#sql.find.all(toBytes(uuidHash), ...range));
  }

  retry(ids: readonly string[]): number {
    return countOf(this.#sql.retry.run(JSON.stringify(ids)));
  }

  discard(ids: readonly string[]): number {
    this.#sql.noteDiscarded.run(JSON.stringify(ids));
    return countOf(this.#sql.discard.run(JSON.stringify(ids)));
  }

  scan(kind: TextKind, from?: string): TextSlice {
    const { scanEvents, scanOutcomes, scanEntries } = this.#sql;
    const scans = { event: scanEvents, outcome: scanOutcomes, entry: scanEntries };
    const texts = rows<StoredText>(scans[kind].all(BigInt(from ?? BEFORE_ALL)));
    return { texts, next: texts.at(-1)?.id };
  }

  erase(kind: TextKind, ids: readonly string[]): void {
    const list = JSON.stringify(ids);
    const { noteErased, eraseEvents, eraseOutcomes, eraseEntries } = this.#sql;
    if (kind === "event") noteErased.run(list);
    ({ event: eraseEvents, outcome: eraseOutcomes, entry: eraseEntries })[kind].run(list);
  }

  appendEntries(entries: readonly NewStoredEntry[], counts: readonly Count[]): void {
    const { appendEntry, addCount } = this.#sql;
    for (const { kind, share, text } of entries) appendEntry.run(kind, share, text);
    for (const { minuteMs, name, count } of counts) addCount.run(minuteMs, name, count);
  }

  readCounts(fromMs: number): Count[] {
    return rows(this.#sql.readCounts.all(fromMs));
  }

  trimEntries(): void {
    this.#sql.trimEntries.run();
    this.#sql.trimCounts.run();
  }

  secret(candidate: string): string {
    this.#sql.keepSecret.run(candidate);
    return String(this.#sql.secret.get()?.secret);
  }

  stats(): QueueStats {
    return this.#sql.stats.get() as unknown as QueueStats;
  }

  purge(): boolean {
    const sql = this.#sql;
    const { dedupeTtlMs, outcomeTtlMs } = this.#ttls;
    sql.releaseOrphans.run();
    const endMs = this.#readMs() + SLICE_MS;
    /** Each returns whether there is more for it. */
    const steps = [
      () => isFull(sql.purge.run()),
      () => isFull(sql.purgeOutcomes.run()),
      () => isFull(sql.endSooner.run(dedupeTtlMs, dedupeTtlMs)),
      () => isFull(sql.endOutcomesSooner.run(outcomeTtlMs, outcomeTtlMs)),
      () => this.#freePages(),
    ];
    for (const step of steps) {
      while (step()) if (this.#readMs() >= endMs) return true;
    }
    return false;
  }

  /** Makes dead letters of rows with numbers of another program. */
  bury(): void {
    this.#sql.bury.run();
  }

  /** Whether another program took an id after which SQLite finds no next one. */
  isIdTaken(): boolean {
    return this.#sql.isIdTaken.get() !== undefined;
  }

  resetIds(): void {
    this.#connection.exec(RESET_IDS);
  }

  /** Whether a claim would find something; spares a transaction. */
  isClaimNeeded(owner: number, held: readonly number[]): boolean {
    const sql = this.#sql;
    return (
      sql.isAnyDue.get() !== undefined ||
      sql.findOwned.get(owner, JSON.stringify(held)) !== undefined
    );
  }

  /** Reads whether an event is due, and the outcomes that were stored since the last time. */
  readNews(): Hint {
    const sql = this.#sql;
    // They may have been reset.
    const lastId = Math.min(this.#lastOutcomeId, this.#readLastOutcomeId());
    const added = sql.newOutcomes.all(lastId);
    this.#lastOutcomeId = Number(added.at(-1)?.id ?? lastId);
    return {
      hasEvents: sql.isAnyDue.get() !== undefined,
      outcomes: added.map(({ key }) => toHex(key)),
    };
  }

  #record({ key, value }: StoredOutcome): void {
    const sql = this.#sql;
    const { outcomeTtlMs } = this.#ttls;
    const bytes = toBytes(key);
    if (countOf(sql.record.run(bytes, value, outcomeTtlMs)) > 0) return;
    // A new id: other processes read the outcomes after the last that they know.
    if (countOf(sql.forgetExpired.run(bytes)) > 0) sql.record.run(bytes, value, outcomeTtlMs);
  }

  #freePages(): boolean {
    const isMore = Number(this.#sql.freePages.get()?.freelist_count) > FREE_PAGES;
    if (isMore) this.#connection.exec(`PRAGMA incremental_vacuum(${FREED_PAGES})`);
    return isMore;
  }

  #readLastOutcomeId(): number {
    return Number(this.#sql.lastOutcome.get()?.seq ?? 0);
  }
}
