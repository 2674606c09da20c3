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
   * The path of the queue's file, on a local disk. It is created when it does not exist; its folder
   * must exist. SQLite keeps two files beside it, `-wal` and `-shm`. Links are followed once, by the
   * call: a link that is changed later needs a restart.
   */
  file: string;
  /** The name of the queue. A file holds one queue: one of another name is not opened. */
  name: string;
}

/** Options with every default filled in; the path of the file is absolute, and has no links. */
export type SqliteSettings = EngineSettings<SqliteQueueOptions>;

const RULES: OwnRules<SqliteQueueOptions> = {
  file: {
    // SQLite takes an empty path and the first two for databases that are gone with the process.
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
