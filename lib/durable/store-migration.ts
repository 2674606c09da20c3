import { EVENT_FORMAT, latestOf, type Migrations } from "./event-migration";
import { QueueError } from "./queue-error";

const { version: PACKAGE_VERSION } = require("../../package.json") as { version: string };

/** What a store says of its format. */
export interface StoreFormat {
  /** The number of its tables or keys. */
  schema: number;
  /** The highest number that an event in it may have. */
  events: number;
  /** The version of the package that wrote these numbers. */
  writtenBy: string;
}

/** The changes of a store, in this order. */
export interface MigrationPlan<Step> {
  steps: readonly Step[];
  /** What the store says afterwards; undefined to leave it as it is. */
  format: StoreFormat | undefined;
}

/** A store in the messages of errors. */
interface NamedStore {
  /** The beginning of its codes. */
  engine: "FILE" | "POSTGRES" | "REDIS";
  /** Such as `redisQueue: the queue push:shop`. */
  what: string;
}

/** Returns the format of a new store. */
export function createFormat(migrations: Migrations<unknown>): StoreFormat {
  return { schema: latestOf(migrations), events: EVENT_FORMAT, writtenBy: PACKAGE_VERSION };
}

/** Reads the format of a store; undefined for one from before the first format. */
export function readFormat(
  schema: unknown,
  events: unknown,
  writtenBy: unknown,
): StoreFormat | undefined {
  const numbers = { schema: Number(schema ?? "none"), events: Number(events ?? "none") };
  const isFormat = Object.values(numbers).every(Number.isInteger);
  return isFormat ? { ...numbers, writtenBy: String(writtenBy) } : undefined;
}

/**
 * Plans the migration of a store to this version.
 *
 * @param found undefined for a store from before the first format.
 * @throws QueueError `…_NEWER` for a number that is more than one higher; `…_OLDER` for one that no
 *   change leads from.
 */
export function planMigration<Step>(
  { engine, what }: NamedStore,
  found: StoreFormat | undefined,
  migrations: Migrations<Step>,
  own = createFormat(migrations),
): MigrationPlan<Step> {
  if (found !== undefined && (found.schema > own.schema + 1 || found.events > own.events + 1)) {
    throw new QueueError(
      `${engine}_NEWER`,
      `${what} is of a newer version of this package (format ${found.schema}, events ${found.events}; this version uses ${own.schema}, ${own.events}). Install express-push-verification ${found.writtenBy} or newer in every process of the queue; nothing was changed.`,
    );
  }
  const steps: Step[] = [];
  for (let number = (found?.schema ?? 0) + 1; number <= own.schema; number++) {
    const step = migrations[number];
    if (step === undefined) throw createOlderError({ engine, what }, found);
    steps.push(step);
  }
  const isOlder = steps.length > 0 || (found?.events ?? 0) < own.events;
  if (!isOlder) return { steps, format: undefined };
  return {
    steps,
    format: {
      schema: Math.max(own.schema, found?.schema ?? 0),
      events: Math.max(own.events, found?.events ?? 0),
      writtenBy: own.writtenBy,
    },
  };
}

function createOlderError({ engine, what }: NamedStore, found: StoreFormat | undefined) {
  const by = found === undefined ? "without a format" : `of format ${found.schema}`;
  const version = found === undefined ? "that wrote it" : found.writtenBy;
  return new QueueError(
    `${engine}_OLDER`,
    `${what} is ${by}, which this version of express-push-verification cannot read. Install the version ${version}, handle or discard all events and dead letters, then give this version an empty store, which knows no uuids and outcomes; nothing was changed.`,
  );
}
