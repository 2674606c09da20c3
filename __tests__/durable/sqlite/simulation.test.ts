import { connect, type SqliteConnection } from "../../../lib/durable/sqlite/node-sqlite";
import { FileOperations } from "../../../lib/durable/sqlite/operations";
import { SCHEMA } from "../../../lib/durable/sqlite/schema";
import type { RealStorage, StorageRows } from "../simulation/comparison";
import { type RealJournal, walkJournal } from "../simulation/journal-walk";
import { TTLS, walk } from "../simulation/walk";

let connection: SqliteConnection | undefined;

/** A storage in memory, whose methods are those of the thread. */
async function start(): Promise<RealStorage & RealJournal> {
  connection?.close();
  const opened = connect(":memory:");
  connection = opened;
  opened.exec(SCHEMA);
  const operations = new FileOperations(opened, TTLS);
  const events = opened.prepare(`SELECT id, body, run_at AS runAtMs, pause AS pauseMs, owner,
    started, failures, stalls, failed_at AS failedAtMs, errors FROM event`);
  const members = opened.prepare("SELECT id, seen_at AS seenAtMs, since AS sinceMs FROM member");
  const deliveries = opened.prepare(`SELECT lower(hex(key)) AS key, lower(hex(content)) AS content,
    is_discarded AS isDiscarded, expires_at AS expiresAtMs FROM delivery`);
  const outcomes = opened.prepare(`SELECT lower(hex(key)) AS key, value,
    expires_at AS expiresAtMs FROM outcome`);
  return {
    async call(method: keyof FileOperations, args: readonly unknown[], nowMs: number) {
      const clock = jest.spyOn(Date, "now").mockReturnValue(nowMs);
      const run = operations[method] as (...values: readonly unknown[]) => unknown;
      try {
        return run.apply(operations, [...args]);
      } finally {
        clock.mockRestore();
      }
    },
    async readRows() {
      const all = { events, members, deliveries, outcomes };
      return Object.fromEntries(
        Object.entries(all).map(([name, statement]) => [name, statement.all()]),
      ) as unknown as StorageRows;
    },
  };
}

it("behaves like the model in 400 walks", async () => {
  for (let seed = 1; seed <= 400; seed++) await walk(seed, await start());
});

it("has the journal of the model in 20 walks over days", async () => {
  for (let seed = 1; seed <= 20; seed++) await walkJournal(seed, await start());
});
