import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { connect, type SqliteConnection } from "../../lib/durable/sqlite/node-sqlite";
import { QUEUE_NAME as name } from "./durable";
import { openQueue, type StoppableEngine } from "./engine";
import { createFile, removeFiles } from "./sqlite";

const OPEN_FILES = "/proc/self/fd";

/** Runs a suite with a file for each test, on a Node.js that has node:sqlite. */
export function describeOnSqlite(title: string, suite: (engine: StoppableEngine) => void): void {
  describe(`sqliteQueue: ${title}`, () => {
    let file: string;
    let locker: SqliteConnection | undefined;
    const freeze = {
      name: "is locked by another process",
      begin() {
        locker = connect(file);
        // The queue may hold the lock.
        locker.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      },
      end() {
        locker?.close();
        locker = undefined;
      },
    };

    suite({
      async start() {
        file = createFile();
      },
      open: (options) => openQueue("sqlite", file, { name, ...options }),
      async stop() {
        freeze.end();
        removeFiles();
      },
      listArguments: () => ["sqlite", file, name],
      freeze,
      keepsRuns: true,
      outages: [freeze],
      failures: [],
      async change(assignment, index) {
        const connection = connect(file);
        const row = `(SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ${index})`;
        connection.exec(
          `PRAGMA busy_timeout = 5000; UPDATE event SET ${assignment} WHERE id = ${row}`,
        );
        connection.close();
      },
      async countConnections() {
        // Only Linux lists the open files of a process.
        if (!existsSync(OPEN_FILES)) return 0;
        return readdirSync(OPEN_FILES).filter((descriptor) => readFileOf(descriptor) === file)
          .length;
      },
    });
  });
}

function readFileOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`${OPEN_FILES}/${descriptor}`);
  } catch {
    // The file was closed after it was listed.
    return undefined;
  }
}
