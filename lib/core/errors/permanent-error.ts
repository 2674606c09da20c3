import { brand } from "../../kit/brand";

/**
 * Error that a handler throws when its event can never be handled. A queue then makes the event a
 * dead letter without further attempts. Without a queue it fails the request like any other error.
 */
export class PermanentError extends Error {
  declare readonly name: "PermanentError";

  static {
    brand(this, "PermanentError");
  }

  /** Returns the fields that `JSON.stringify` writes: the cause is not among them. */
  toJSON(): Pick<PermanentError, "name" | "message"> {
    const { name, message } = this;
    return { name, message };
  }
}
