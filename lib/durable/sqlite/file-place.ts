import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** What the option `file` must be. */
export const FILE_PATH = 'the path of a file in a folder that exists, such as "./data/push.db"';

/**
 * Finds where a file is, or will be: SQLite keeps its other files beside the target of a link, which
 * may change later.
 *
 * @returns an absolute path without links, but for a folder that this process may not enter.
 * @throws TypeError for a path that leads to no file, or to one with several names.
 */
export function findFilePlace(path: string): string {
  try {
    const place = followLinks(resolve(path));
    const stats = statSync(place, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) throw new Error(`${place} is a folder`);
    // With a -wal for each name, processes would not see each other's events.
    if (stats !== undefined && stats.nlink > 1) {
      throw new Error(`${place} has ${stats.nlink} names (hard links); remove the others`);
    }
    return place;
  } catch (error) {
    const { message, code = "" } = error as NodeJS.ErrnoException;
    // Opening the file says what this process may not do.
    if (code === "EACCES" || code === "EPERM") return resolve(path);
    throw new TypeError(
      `sqliteQueue: option file must be ${FILE_PATH}; received ${JSON.stringify(path)}: ${message}.`,
      { cause: error },
    );
  }
}

/** Follows links that this process may see by now; returns the path itself otherwise. */
export function findPlaceAgain(path: string): string {
  try {
    return followLinks(path);
  } catch {
    // Opening the file says why.
    return path;
  }
}

function followLinks(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync.native(path);
  const place = join(realpathSync.native(dirname(path)), basename(path));
  // A link to a file that does not exist yet.
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? followLinks(resolve(dirname(place), readlinkSync(place))) : place;
}
