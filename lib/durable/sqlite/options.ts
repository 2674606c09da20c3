import {
  resolveQueueOptions,
  type EngineSettings,
  type OwnRules,
  type QueueOptions,
  warnOfRisk,
} from "../queue-options";
import { findDiskRisk } from "./disk";
import { FILE_PATH, findFilePlace } from "./file-place";

/** Options of `sqliteQueue`. */
export interface SqliteQueueOptions extends QueueOptions {
  /**
   * The path of the queue's file, on a local disk; created when missing, in a folder that exists. It holds
   * one queue: one of another name is not opened. SQLite keeps two files beside it, `-wal` and `-shm`.
   * A link that is changed later needs a restart.
   */
  file: string;
}

/** Options with all defaults; the path of the file is absolute, without links. */
export type SqliteSettings = EngineSettings<SqliteQueueOptions>;

const RULES: OwnRules<SqliteQueueOptions> = {
  file: {
    // SQLite keeps some of these in memory.
    accepts: (value) =>
      typeof value === "string" && !/^$|^:memory:|^file:|^\w+:\/\/|\0/.test(value),
    expected: FILE_PATH,
    required: true,
  },
};

/** Validates the options of `sqliteQueue` and fills in the defaults; throws TypeError, also for a shared disk. */
export function resolveSqliteOptions(options: SqliteQueueOptions): SqliteSettings {
  const settings = resolveQueueOptions("sqliteQueue", options, RULES);
  const file = findFilePlace(options.file);
  const risk = findDiskRisk(file);
  if (risk !== undefined) warnOfRisk(`sqliteQueue: ${risk}`, settings.logger);
  return { ...settings, file };
}
