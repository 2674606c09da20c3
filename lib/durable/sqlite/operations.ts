import type { ClaimedEvent, Claims, Hint, QueueStats, Storage, StoredOutcome } from "../storage";
import { rangeOfKeys } from "../event-key";
import type { SqliteConnection, PreparedStatement } from "./node-sqlite";
import type { SqliteSettings } from "./options";
import { STATEMENTS } from "./statements";

/** The methods of the storage that the thread runs: as a read, or in a transaction that a power cut may undo or not. */
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
  find: "read",
  retry: "durable",
  discard: "durable",
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

/** A file keeps up to 4 MiB of free pages, and gives as much back at a time. */
const FREE_PAGES = 1_000;

const toBytes = (hex: string) => Buffer.from(hex, "hex");
const toHex = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString("hex");

/** The statements name the columns as the storage does. */
const rows = <Row>(found: unknown[]) => found as Row[];

/** Creates the operations of the thread on an open file: the methods of the storage, and some of its own. */
export function createFileOperations(
  connection: SqliteConnection,
  { dedupeTtlMs, outcomeTtlMs }: Pick<SqliteSettings, "dedupeTtlMs" | "outcomeTtlMs">,
) {
  // BigInt: SQLite takes a number for a real one.
  connection.function("now_ms", { deterministic: true }, () => BigInt(Date.now()));
  const sql = Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, text]) => [name, connection.prepare(text)]),
  ) as Record<keyof typeof STATEMENTS, PreparedStatement>;
  let lastOutcomeId = Number(sql.lastOutcome.get()?.seq ?? 0);

  function record({ key, params }: StoredOutcome): void {
    sql.forgetExpired.run(toBytes(key));
    sql.record.run(toBytes(key), params, outcomeTtlMs);
  }

  const methods: Operations = {
    store: (events) =>
      events.map(({ key, content, uuidHash, body, outcome }) => {
        const kept = sql.findDelivery.get(toBytes(key));
        if (kept !== undefined) return toHex(kept.content);
        const added = sql.store.run(toBytes(key), toBytes(content), dedupeTtlMs);
        sql.storeEvent.run(Number(added.lastInsertRowid), toBytes(uuidHash), body);
        if (outcome !== undefined) record(outcome);
        return content;
      }),
    record: (outcomes) => outcomes.forEach(record),
    outcomes: (keys) =>
      keys.flatMap((key) => {
        const row = sql.outcomes.get(toBytes(key));
        return row === undefined ? [] : [{ key, params: String(row.params) }];
      }),
    claim(owner, held, wanted) {
      if (sql.isMember.get(owner) === undefined) return [];
      const ids = JSON.stringify(held);
      const lost = rows<ClaimedEvent>(sql.findOwned.all(owner, ids));
      const count = Math.max(0, wanted - lost.length);
      const due = rows<ClaimedEvent>(sql.findDue.all(ids, count));
      for (const { id } of due) sql.claim.run(owner, id);
      return [...lost, ...due];
    },
    finish(runs) {
      for (const { id, started } of runs) sql.finish.run(id, started);
    },
    fail: (runs) =>
      runs.flatMap(({ id, started, failures, errors, pauseMs = null, isForged }) => {
        sql.fail.run(failures, errors, pauseMs, pauseMs, pauseMs, id, started);
        if (isForged) sql.forgetDelivery.run(id);
        return pauseMs === null && sql.isDead.get(id, started) !== undefined ? [id] : [];
      }),
    beat(members) {
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
    },
    leave({ id }) {
      sql.forgetMember.run(id);
      sql.giveBack.run(id);
    },
    deadLetters: (after) => rows(sql.deadLetters.all(after?.atMs ?? 0, BigInt(after?.id ?? 0))),
    find: (uuidHash) =>
      rows(sql.find.all(toBytes(uuidHash), ...rangeOfKeys(uuidHash).map(toBytes))),
    retry: (ids) => Number(sql.retry.run(JSON.stringify(ids)).changes),
    discard(ids) {
      sql.noteDiscarded.run(JSON.stringify(ids));
      return Number(sql.discard.run(JSON.stringify(ids)).changes);
    },
    stats: () => sql.stats.get() as unknown as QueueStats,
    purge() {
      sql.releaseOrphans.run();
      sql.purge.run();
      sql.purgeOutcomes.run();
      const freePages = Number(sql.freePages.get()?.freelist_count);
      if (freePages > FREE_PAGES) connection.exec(`PRAGMA incremental_vacuum(${FREE_PAGES})`);
    },
  };
  return {
    ...methods,
    /** Makes dead letters of rows with numbers that another program wrote. */
    bury: () => void sql.bury.run(),
    /** Whether a claim would find something; a read that spares a transaction. */
    isClaimNeeded: (owner: number, held: readonly number[]) =>
      sql.isAnyDue.get() !== undefined ||
      sql.findOwned.get(owner, JSON.stringify(held)) !== undefined,
    /** Reads whether an event is due, and the outcomes that were stored since the last time. */
    readNews(): Hint {
      const added = sql.newOutcomes.all(lastOutcomeId);
      lastOutcomeId = Number(added.at(-1)?.id ?? lastOutcomeId);
      return {
        hasEvents: sql.isAnyDue.get() !== undefined,
        outcomes: added.map(({ key }) => toHex(key)),
      };
    },
  };
}
