import { statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { OptionRules } from "../../validation/validate-options";
import {
  QUEUE_RULES,
  resolveQueueOptions,
  type EngineSettings,
  type QueueOptions,
} from "../queue-options";

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

const RULES: OptionRules<SqliteQueueOptions> = {
  ...QUEUE_RULES,
  file: {
    accepts: isFilePath,
    expected: 'the path of a file in a folder that exists, such as "./data/push.db"',
    required: true,
  },
};

/**
 * Validates the options of `sqliteQueue` and fills in the defaults.
 *
 * @throws TypeError for an option that is unknown or impossible, and for a file on a network disk.
 */
export function resolveSqliteOptions(options: SqliteQueueOptions): SqliteSettings {
  const settings = resolveQueueOptions("sqliteQueue", options, RULES);
  const file = resolve(options.file);
  // Some kernels give the type as a signed number.
  const type = process.platform === "linux" ? statfsSync(dirname(file)).type >>> 0 : 0;
  const disk = NETWORK_DISKS[type];
  if (disk === undefined) return { ...settings, file };
  throw new TypeError(
    `sqliteQueue: option file must be on a local disk; ${file} is on ${disk}, where SQLite may lose events.`,
  );
}

function isFilePath(value: unknown): boolean {
  // SQLite takes an empty path and these two for databases that are gone with the process.
  if (typeof value !== "string" || /^$|^:memory:|^file:|\0/.test(value)) return false;
  const options = { throwIfNoEntry: false } as const;
  if (statSync(resolve(value), options)?.isDirectory() === true) return false;
  return statSync(dirname(resolve(value)), options)?.isDirectory() === true;
}

/** Types of `statfs` on Linux: the memory that SQLite shares is not shared between machines. */
const NETWORK_DISKS: Readonly<Record<number, string>> = {
  0x6969: "NFS",
  0x517b: "SMB",
  0xfe534d42: "SMB",
  0xff534d42: "CIFS",
  0x01021997: "9p",
};
