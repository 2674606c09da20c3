import { WebhookError } from "../index";

/**
 * The changes of a format, by the number that each leads to; the first format has the number 1. A
 * change only adds: processes of both versions run beside each other, and a rollback is possible.
 */
export type Migrations<Step> = Readonly<Record<number, Step>>;

type StoredObject = Readonly<Record<string, unknown>>;

const EVENT_MIGRATIONS: Migrations<(stored: StoredObject) => StoredObject> = {};

/** The number of the events that this version stores. */
export const EVENT_FORMAT = latestOf(EVENT_MIGRATIONS);

/** Returns the number of a format after its last change. */
export function latestOf(migrations: Migrations<unknown>): number {
  return Math.max(1, ...Object.keys(migrations).map(Number));
}

/**
 * Makes a stored event one of the number of this version; one of the next number stays.
 *
 * @throws WebhookError `INTERNAL_ERROR` for a newer one; Error for one that is older than the first.
 */
export function migrateEvent(stored: unknown, migrations = EVENT_MIGRATIONS): unknown {
  const { format: given } = Object(stored) as { format?: unknown };
  const format = typeof given === "number" ? given : 0;
  const latest = latestOf(migrations);
  if (format > latest + 1) {
    throw new WebhookError(
      "INTERNAL_ERROR",
      `A newer version of this package wrote a stored event (format ${format}; this version reads up to ${latest + 1}). Update this process.`,
    );
  }
  let event = stored as StoredObject;
  for (let number = format + 1; number <= latest; number++) {
    const step = migrations[number];
    if (step === undefined) throw new Error("A stored event is older than the first format.");
    event = step(event);
  }
  return event;
}
