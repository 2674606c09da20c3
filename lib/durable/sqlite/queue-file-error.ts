import { brand } from "../../errors/brand";

/**
 * Why a file cannot be used. `FILE_FOREIGN`: it is no queue of this package, or one of another name.
 * `FILE_DAMAGED`: SQLite finds it malformed. `FILE_NEWER`: a newer version of this package wrote it.
 * `FILE_IN_USE`: another process has it open and it cannot be shared.
 */
export type QueueFileErrorCode = "FILE_FOREIGN" | "FILE_DAMAGED" | "FILE_NEWER" | "FILE_IN_USE";

/**
 * The file of `sqliteQueue` cannot be used; it was not changed.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class QueueFileError extends Error {
  declare readonly name: "QueueFileError";

  constructor(
    /** What went wrong. */
    readonly code: QueueFileErrorCode,
    message: string,
  ) {
    super(message);
  }

  static {
    brand(this, "QueueFileError");
  }

  /** Returns what `JSON.stringify` writes. */
  toJSON(): Pick<QueueFileError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
