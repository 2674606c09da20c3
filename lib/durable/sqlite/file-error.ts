import { QueueError } from "../queue-error";
import { canShare, FIRST_SHARING, sqliteCodeOf } from "./node-sqlite";

/** Replaces what SQLite throws for a file that it cannot read by an error that names the file. */
export function explainErrors(file: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    const code = sqliteCodeOf(error);
    if (code === "SQLITE_NOTADB") {
      const message = `sqliteQueue: ${file} is not a SQLite database, or its header is damaged. Pass the path of a file of its own.`;
      throw new QueueError("FILE_FOREIGN", message);
    }
    if (code === "SQLITE_CORRUPT") throw createDamageError(file, (error as Error).message);
    if (code === "SQLITE_BUSY") {
      const version = process.versions.sqlite ?? "";
      const hint = canShare(version)
        ? "It runs on an older Node.js, or is no queue."
        : `SQLite ${version} of this Node.js cannot share a file: its WAL-reset bug would lose events. Run one process, or Node.js with SQLite ${FIRST_SHARING.join(".")} or newer.`;
      const message = `sqliteQueue: another process has ${file} open and does not share it. ${hint}`;
      throw new QueueError("FILE_IN_USE", message);
    }
    throw error;
  }
}

/** Creates the error of a damaged file. */
export function createDamageError(file: string, detail: string): QueueError {
  return new QueueError(
    "FILE_DAMAGED",
    `sqliteQueue: ${file} is damaged (${detail.split("\n", 1)[0]}). Restore a backup, or move it and its -wal away to start with an empty queue.`,
  );
}
