import { connect, type SqliteConnection } from "../../../lib/durable/sqlite/node-sqlite";
import { createFileOperations } from "../../../lib/durable/sqlite/operations";
import { SCHEMA } from "../../../lib/durable/sqlite/schema";
import { compareSchedules, type RealStorage, type StorageRows } from "../simulation/comparison";

const TTL_MS = 2 ** 40;

let connection: SqliteConnection | undefined;

/** A storage in memory, whose methods are those of the thread. */
async function start(): Promise<RealStorage> {
  connection?.close();
  const opened = connect(":memory:");
  connection = opened;
  opened.exec(SCHEMA);
  const operations = createFileOperations(opened, { dedupeTtlMs: TTL_MS, outcomeTtlMs: TTL_MS });
  const events = opened.prepare(`SELECT id, body, run_at AS runAtMs, pause AS pauseMs, owner,
    started, failures, stalls, failed_at AS failedAtMs, errors FROM event`);
  const members = opened.prepare("SELECT id, seen_at AS seenAtMs, since AS sinceMs FROM member");
  return {
    async call(method, args, nowMs) {
      const clock = jest.spyOn(Date, "now").mockReturnValue(nowMs);
      const run = operations[method] as (...values: readonly unknown[]) => unknown;
      try {
        return run(...args);
      } finally {
        clock.mockRestore();
      }
    },
    async readRows() {
      return { events: events.all(), members: members.all() } as unknown as StorageRows;
    },
  };
}

it("behaves like the model in 300 schedules", async () => {
  await compareSchedules({ first: 1, count: 300 }, start);
});
