import { brand } from "./brand";

/**
 * Thrown by a handler whose event can never be handled: a queue makes the event a dead letter at
 * once, without further attempts. Without a queue it fails the request like any other error.
 */
export class PermanentError extends Error {
  declare readonly name: "PermanentError";

  static {
    brand(this, "PermanentError");
  }

  /** Returns what `JSON.stringify` writes: never the cause. */
  toJSON(): Pick<PermanentError, "name" | "message"> {
    const { name, message } = this;
    return { name, message };
  }
}
