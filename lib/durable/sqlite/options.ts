import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  resolveQueueOptions,
  type EngineSettings,
  type OwnRules,
  type QueueOptions,
  warnOfRisk,
} from "../queue-options";
import { findDiskRisk } from "./disk";

/** Options of `sqliteQueue`. */
export interface SqliteQueueOptions extends QueueOptions {
  /**
   * The path of the queue's file, on a local disk. It is created when it does not exist; its folder
   * must exist. SQLite keeps two files beside it, `-wal` and `-shm`.
   */
  file: string;
  /** The name of the queue. A file holds one queue: one of another name is not opened. */
  name: string;
}

/** Options with every default filled in; the path of the file is absolute. */
export type SqliteSettings = EngineSettings<SqliteQueueOptions>;

const RULES: OwnRules<SqliteQueueOptions> = {
  file: {
    accepts: isFilePath,
    expected: 'the path of a file in a folder that exists, such as "./data/push.db"',
    required: true,
  },
};

/** Validates the options of `sqliteQueue` and fills in the defaults; throws TypeError, also for a shared disk. */
export function resolveSqliteOptions(options: SqliteQueueOptions): SqliteSettings {
  const settings = resolveQueueOptions("sqliteQueue", options, RULES);
  const file = resolve(options.file);
  const risk = findDiskRisk(file);
  if (risk !== undefined) warnOfRisk(`sqliteQueue: ${risk}`, settings.logger);
  return { ...settings, file };
}

function isFilePath(value: unknown): boolean {
  // SQLite takes an empty path and these two for databases that are gone with the process.
  if (typeof value !== "string" || /^$|^:memory:|^file:|\0/.test(value)) return false;
  return isFolder(resolve(value)) !== true && isFolder(dirname(resolve(value))) !== false;
}

/** Returns whether a path is a folder; undefined where this process may not see it. */
function isFolder(path: string): boolean | undefined {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    return /^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? "")
      ? false
      : undefined;
  }
}
