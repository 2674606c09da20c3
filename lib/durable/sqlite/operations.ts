import type { ClaimedEvent, Claims, Hint, QueueStats, Storage } from "../storage";
import { rangeOfKeys } from "../stored-event";
import type { SqliteConnection, PreparedStatement, SqlRow } from "./node-sqlite";
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

/** The operations of the thread on an open file: the methods of the storage, and some of its own. */
export type FileOperations = ReturnType<typeof createFileOperations>;

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
const rows = <Row>(found: SqlRow[]) => found as unknown as Row[];

/** Creates the operations of the thread. */
export function createFileOperations(
  connection: SqliteConnection,
  { dedupeTtlMs, outcomeTtlMs }: Pick<SqliteSettings, "dedupeTtlMs" | "outcomeTtlMs">,
) {
  const sql = Object.fromEntries(
    Object.entries(STATEMENTS).map(([name, text]) => [name, connection.prepare(text)]),
  ) as Record<keyof typeof STATEMENTS, PreparedStatement>;
  let lastOutcomeId = Number(sql.lastOutcome.get()?.seq ?? 0);

  function record(key: Buffer, params: string, nowMs: number): void {
    sql.forgetExpired.run(key, nowMs);
    sql.record.run(key, params, nowMs + outcomeTtlMs);
  }

  const methods: Operations = {
    store(events) {
      const nowMs = Date.now();
      return events.map(({ key, content, uuidHash, body, outcome }) => {
        const keyBytes = toBytes(key);
        const found = sql.findDelivery.get(keyBytes);
        if (found !== undefined && Number(found.expires_at) > nowMs) return toHex(found.content);
        const added = sql.store.run(keyBytes, toBytes(content), nowMs + dedupeTtlMs);
        sql.storeEvent.run(Number(added.lastInsertRowid), toBytes(uuidHash), body, nowMs);
        if (outcome !== undefined) record(toBytes(outcome.key), outcome.params, nowMs);
        return content;
      });
    },
    record(outcomes) {
      for (const { key, params } of outcomes) record(toBytes(key), params, Date.now());
    },
    outcomes: (keys) =>
      keys.flatMap((key) => {
        const row = sql.outcomes.get(toBytes(key), Date.now());
        return row === undefined ? [] : [{ key, params: String(row.params) }];
      }),
    claim(owner, held, wanted) {
      if (sql.isMember.get(owner) === undefined) return [];
      const ids = JSON.stringify(held);
      const lost = rows<ClaimedEvent>(sql.findOwned.all(owner, ids));
      const count = Math.max(0, wanted - lost.length);
      const due = rows<ClaimedEvent>(sql.findDue.all(Date.now(), ids, count));
      for (const { id } of due) sql.claim.run(owner, id);
      return [...lost, ...due];
    },
    finish(runs) {
      for (const { id, started } of runs) sql.finish.run(id, started);
    },
    fail(runs) {
      const nowMs = Date.now();
      return runs.flatMap(({ id, started, failures, errors, pauseMs, isForged }) => {
        const times =
          pauseMs === undefined ? [nowMs, null, null] : [null, nowMs + pauseMs, pauseMs];
        sql.fail.run(failures, errors, ...times, id, started);
        if (isForged) sql.forgetDelivery.run(id);
        return pauseMs === undefined && sql.isDead.get(id, started) !== undefined ? [id] : [];
      });
    },
    beat(members) {
      const nowMs = Date.now();
      const ids = new Set(members.map(({ id }) => id));
      const dead = sql.findDead.all(nowMs).filter(({ id }) => !ids.has(Number(id)));
      if (sql.isClockSetBack.get(nowMs) !== undefined) {
        sql.endPauses.run(nowMs, nowMs);
        sql.failNow.run(nowMs, nowMs);
        sql.expireFuture.run(nowMs, nowMs);
      }
      for (const { id, isWorker } of members) sql.beat.run(id, Number(isWorker), nowMs, nowMs);
      if (!members.some(({ id }) => sql.isOld.get(id, nowMs) !== undefined)) return;
      for (const { id } of dead) {
        sql.release.run(nowMs, nowMs, nowMs, Number(id));
        sql.forgetMember.run(Number(id));
      }
    },
    leave({ id }) {
      sql.forgetMember.run(id);
      sql.giveBack.run(id);
    },
    deadLetters: (after) =>
      rows(sql.deadLetters.all(Date.now(), after?.atMs ?? 0, Number(after?.id ?? 0))),
    find(uuidHash) {
      const [from, to] = rangeOfKeys(uuidHash).map(toBytes) as [Buffer, Buffer];
      const nowMs = Date.now();
      return rows(sql.find.all(nowMs, toBytes(uuidHash), from, to, nowMs));
    },
    retry: (ids) => sumChanges(ids, (id) => sql.retry.run(Date.now(), id).changes),
    discard: (ids) =>
      sumChanges(ids, (id) => {
        const { changes } = sql.discard.run(id);
        if (Number(changes) > 0) sql.noteDiscarded.run(id);
        return changes;
      }),
    stats: () => sql.stats.get(Date.now()) as unknown as QueueStats,
    purge() {
      const nowMs = Date.now();
      sql.releaseOrphans.run(nowMs);
      sql.purge.run(nowMs);
      sql.purgeOutcomes.run(nowMs);
      const freePages = Number(sql.freePages.get()?.freelist_count);
      if (freePages > FREE_PAGES) connection.exec(`PRAGMA incremental_vacuum(${FREE_PAGES})`);
    },
  };
  return {
    ...methods,
    /** Makes dead letters of rows with numbers that another program wrote. */
    bury(): void {
      sql.bury.run(Date.now());
      sql.forgetUnsafe.run();
      sql.keepSafe.run();
    },
    /** Whether a claim would find something; a read that spares a transaction. */
    isClaimNeeded: (owner: number, held: readonly number[]) =>
      sql.isAnyDue.get(Date.now()) !== undefined ||
      sql.findOwned.get(owner, JSON.stringify(held)) !== undefined,
    /** Reads whether an event is due, and the outcomes that were stored since the last time. */
    readNews(): Hint {
      const added = sql.newOutcomes.all(lastOutcomeId);
      lastOutcomeId = Number(added.at(-1)?.id ?? lastOutcomeId);
      return {
        hasEvents: sql.isAnyDue.get(Date.now()) !== undefined,
        outcomes: added.map(({ key }) => toHex(key)),
      };
    },
  };
}

function sumChanges(ids: readonly string[], change: (id: number) => number | bigint): number {
  return ids.reduce((sum, id) => sum + Number(change(Number(id))), 0);
}
