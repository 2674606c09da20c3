import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { QueueError } from "../queue-error";
import { canShare, FIRST_SHARING, sqliteCodeOf } from "./node-sqlite";

/** Codes of SQLite and Node.js for a file that cannot be written. */
const UNWRITABLE =
  /^(SQLITE_(PERM|READONLY|CANTOPEN)|EACCES|EPERM|EROFS|ENOTDIR|ELOOP|ENAMETOOLONG)$/;

/** Returns the QueueError of a file that cannot be opened; other errors as they are. */
export function explainOpening(file: string, error: unknown): unknown {
  const code = sqliteCodeOf(error) ?? (error as NodeJS.ErrnoException).code ?? "";
  if (code === "SQLITE_NOTADB") return createNoDatabaseError(file);
  const denied = listDenied(file);
  if (denied.length > 0 || UNWRITABLE.test(code)) {
    return createReadonlyError(file, denied, error as Error);
  }
  if (code !== "SQLITE_BUSY") return explainDamage(file, error);
  const version = process.versions.sqlite ?? "";
  const hint = canShare(version)
    ? "It runs on an older Node.js, or is no queue."
    : `SQLite ${version} of this Node.js cannot share a file: its WAL-reset bug would lose events. Run one process, or Node.js with SQLite ${FIRST_SHARING} or newer.`;
  const message = `sqliteQueue: another process has ${file} open and does not share it. ${hint}`;
  return new QueueError("FILE_IN_USE", message);
}

/** Returns `FILE_DAMAGED` for an error of a statement that shows damage; other errors as they are. */
export function explainDamage(file: string, error: unknown): unknown {
  return isDamage(error) ? createDamageError(file, (error as Error).message) : error;
}

/** Returns whether an error of a statement shows that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  // An integer that no queue has written.
  if (code === "ERR_OUT_OF_RANGE") return true;
  // SQLITE_ERROR: our statements are right, so a table or a column is missing.
  return ["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"].includes(sqliteCodeOf(error) ?? "");
}

function createReadonlyError(file: string, denied: string[], { message }: Error): QueueError {
  const user = process.getuid === undefined ? "" : ` (user ${process.getuid()})`;
  const what =
    denied.length > 0
      ? `may not write to ${denied.join(", ")}`
      : `cannot write ${file}: ${message}`;
  const command = process.platform === "win32" ? "icacls" : "chown";
  return new QueueError(
    "FILE_READONLY",
    `sqliteQueue: this process${user} ${what}. SQLite needs the folder, too, for the files beside ${file}. Give them to the user of the process, with ${command}, or mount the folder for writing.`,
  );
}

/** Lists which files and folders of a queue this process may not write, as far as the system knows. */
function listDenied(file: string): string[] {
  return [dirname(file), file, `${file}-wal`, `${file}-shm`].filter((path) => {
    try {
      accessSync(path, constants.W_OK);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ENOENT";
    }
  });
}

/** Creates the error of a file that is no database. */
export function createNoDatabaseError(file: string): QueueError {
  return new QueueError(
    "FILE_FOREIGN",
    `sqliteQueue: ${file} is not a SQLite database, or its header is damaged. Pass the path of a file of its own; if this was the file of the queue, restore a backup instead: a new file is an empty queue.`,
  );
}

/** Creates the error of a damaged file. */
export function createDamageError(file: string, detail: string): QueueError {
  // quick_check begins with a name for the file.
  const [reason] = detail.replace(/^\*\*\* in database main \*\*\*\n/, "").split("\n", 1);
  return new QueueError(
    "FILE_DAMAGED",
    `sqliteQueue: ${file} is damaged (${reason}). What was stored since the last backup may be lost. Stop every process, move the file away together with its -wal and -shm (do not remove them: sqlite3 may recover events), and put a backup in its place. Without a backup, the queue starts empty: no event of the moved file is handled.`,
  );
}
