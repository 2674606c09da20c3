import { brand } from "../../errors/brand";

/**
 * Redis is not configured to lose nothing. The message holds the lines of redis.conf to change.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class DurabilityError extends Error {
  declare readonly name: "DurabilityError";
  /** What went wrong. */
  readonly code = "REDIS_NOT_DURABLE";

  static {
    brand(this, "DurabilityError");
  }

  /** Returns what `JSON.stringify` writes: never the cause. */
  toJSON(): Pick<DurabilityError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
