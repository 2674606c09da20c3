import type { QueueStats } from "../durable-queue";
import type { SqliteConnection } from "./node-sqlite";
import { LEASE_MS } from "./protocol";

/** The processes that use the file. Its methods but `stats` and `countOthers` need a transaction. */
export interface ProcessTable {
  /** Writes down that this process is alive. */
  beat(isWorker: boolean): void;
  leave(): void;
  /** How many other processes are alive. */
  countOthers(): number;
  stats(): Required<QueueStats>;
}

/** Creates the view of the processes; `owner` is this one. */
export function createProcessTable(connection: SqliteConnection, owner: number): ProcessTable {
  const upsert = connection.prepare(
    "INSERT OR REPLACE INTO process (id, seen_at, is_worker) VALUES (?, ?, ?)",
  );
  const remove = connection.prepare("DELETE FROM process WHERE id = ?");
  const count = connection.prepare(
    "SELECT count(*) AS count FROM process WHERE id <> ? AND seen_at > ?",
  );
  // Not ?1, several times: Node.js 22.13 binds no value to a parameter with a number.
  const readStats = connection.prepare(`
    SELECT
      (SELECT count(*) FROM event
        WHERE owner IS NULL AND failed_at IS NULL AND run_at <= now_ms) AS waiting,
      (SELECT count(*) FROM event
        WHERE owner IS NULL AND failed_at IS NULL AND run_at > now_ms) AS delayed,
      (SELECT count(*) FROM event WHERE owner IS NOT NULL) AS active,
      (SELECT count(*) FROM event WHERE failed_at IS NOT NULL) AS deadLetters,
      (SELECT max(0, now_ms - min(run_at)) FROM event
        WHERE owner IS NULL AND failed_at IS NULL) AS oldestWaitingMs,
      (SELECT count(*) FROM process WHERE is_worker = 1 AND seen_at > now_ms - ${LEASE_MS}) AS workers
    FROM (SELECT ? AS now_ms)`);

  return {
    beat: (isWorker) => void upsert.run(owner, Date.now(), Number(isWorker)),
    leave: () => void remove.run(owner),
    countOthers: () => Number(count.get(owner, Date.now() - LEASE_MS)?.count),
    stats() {
      const row = readStats.get(Date.now()) ?? {};
      const read = (name: string) => Number(row[name] ?? 0);
      return {
        waiting: read("waiting"),
        active: read("active"),
        delayed: read("delayed"),
        deadLetters: read("deadLetters"),
        oldestWaitingMs: read("oldestWaitingMs"),
        workers: read("workers"),
      };
    },
  };
}

/** Creates the identifier of a process; for each opening of a file a new one. */
export function createOwner(): number {
  const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 16) * 2 ** 32 + low;
}
