import { hashText } from "../kit/hash";
import * as z from "zod";
import { type EventQueue, parseEvent, type QueuedEvent } from "../core/door";
import { PROCESS_NAME } from "../kit/process-name";
import { cutText, parseJson, toAsciiJson } from "../kit/text";
import { EVENT_FORMAT, migrateEvent } from "./event-migration";
import { hashKey, joinEventKey } from "./event-key";
import type { EventFailure, QueueUser } from "./event-operations";
import { MAX_TIME_MS, type NewEvent, type StoredOutcome } from "./storage";

/** What the delivery of an event has come to. */
export type DeliveryResult = Awaited<ReturnType<EventQueue["store"]>>;

/** How many failed attempts of an event are kept. */
const MAX_FAILURES = 10;
const MAX_ERROR_CHARACTERS = 1_000;
const HASH_DIGITS = 24;
const RANDOM_DIGITS = 8;

const storedEventSchema = z.object({
  /** The number of its format. */
  format: z.int(),
  /** The parameters of the request: a worker parses the event from them. */
  params: z.array(z.tuple([z.string(), z.string()])),
  /** The `authenticatedAccount` of its `OutcomeKey`. */
  account: z.string(),
  authTokenIndex: z.int(),
  publicUrlIndex: z.int(),
  receiver: z.string().optional(),
  /** A worker confirms it, and records its outcome. */
  needsConfirmation: z.literal(true).optional(),
  /** See `ConfirmContext`. */
  ambiguity: z.string().optional(),
  /** The trace context of its request. */
  carrier: z.record(z.string(), z.string()).optional(),
});

/** The names in an event of any program or version. */
const namesSchema = z
  .object({
    params: z.array(z.tuple([z.string(), z.string()]).catch(["", ""])).catch([]),
    account: z.string().catch(""),
    receiver: z.string().optional().catch(undefined),
  })
  .catch({ params: [], account: "", receiver: undefined });

const failuresSchema = z
  .array(
    z
      .object({
        at: z.number().min(-MAX_TIME_MS).max(MAX_TIME_MS),
        error: z.string(),
        ms: z.number().optional().catch(undefined),
        by: z.string().optional().catch(undefined),
      })
      .optional()
      .catch(undefined),
  )
  .catch([]);

/** An event as it is stored. */
type StoredEvent = z.infer<typeof storedEventSchema>;

/** Reads a stored event; throws for one that this version cannot read. */
export function readStoredEvent(stored: unknown) {
  const { params, account, ...context } = storedEventSchema.parse(migrateEvent(stored));
  return { event: parseEvent(params), authenticatedAccount: account, ...context };
}

/**
 * Reads the names of an event from its stored form, also when this version cannot read the event; an
 * empty text for a missing one. `accountSid` is a claim of the event.
 */
export function readEventNames(stored: unknown) {
  const { params, account, receiver } = namesSchema.parse(stored);
  const values = new Map(params);
  const read = (name: string) => values.get(name) ?? "";
  return {
    authenticatedAccount: account,
    receiver,
    accountSid: read("account_sid"),
    entityIdentity: read("entity_identity"),
    uuid: read("uuid"),
    type: read("type"),
  };
}

/** Returns whether a stored event is of a user, also one that this version cannot read. */
export function isEventOf({ accountSid, entityIdentity }: QueueUser, stored: unknown): boolean {
  const { params } = namesSchema.parse(stored);
  const has = (name: string, value: string) =>
    params.some((pair) => pair[0] === name && pair[1] === value);
  return has("account_sid", accountSid) && has("entity_identity", entityIdentity);
}

/** Writes an event for a storage. */
export function toNewEvent(
  queueName: string,
  queued: QueuedEvent,
  outcome: StoredOutcome | undefined,
  carrier: Record<string, string> = {},
): NewEvent {
  const { event, authenticatedAccount, authTokenIndex, publicUrlIndex, receiver } = queued;
  const uuidHash = hashKey(queueName, queued.uuid);
  const stored: StoredEvent = {
    format: EVENT_FORMAT,
    params: event.params.map(([name, value]) => [name, value]),
    account: authenticatedAccount,
    authTokenIndex,
    publicUrlIndex,
    // JSON leaves out undefined members.
    receiver,
    needsConfirmation: queued.needsConfirmation === true ? true : undefined,
    ambiguity: queued.ambiguity,
    carrier: Object.keys(carrier).length > 0 ? carrier : undefined,
  };
  // Only `confirm` tells a forged event from the genuine one of its uuid: both are stored.
  const own = queued.needsConfirmation === true ? `:${JSON.stringify(stored.params)}` : "";
  return {
    // The account first: accounts share no identifier.
    key: joinEventKey(uuidHash, hashKey(queueName, `${authenticatedAccount}:${queued.uuid}${own}`)),
    // No two stored events have the same.
    content: hashPart(queued.contentHash) + crypto.randomUUID().slice(0, RANDOM_DIGITS),
    uuidHash,
    body: toAsciiJson(stored),
    outcome,
  };
}

/** Compares an event with the content under its uuid: its own when the event was new. */
export function compareContent(
  { contentHash, listOtherHashes }: QueuedEvent,
  own: string,
  kept: string,
): DeliveryResult {
  if (kept === own) return "new";
  const isKept = (other: string) => kept.startsWith(hashPart(other));
  // The other hashes cost one signature per token.
  const isEqual = isKept(contentHash) || listOtherHashes?.().some(isKept) === true;
  return isEqual ? "duplicate" : "conflict";
}

function hashPart(contentHash: string): string {
  return hashText(contentHash).slice(0, HASH_DIGITS);
}

/** Adds an attempt that fails now to the stored ones, as JSON of ASCII characters. */
export function addFailure(
  stored: string | null,
  { reason, durationMs }: { reason: string; durationMs?: number },
): string {
  const failure = {
    at: Date.now(),
    error: cutText(reason, MAX_ERROR_CHARACTERS),
    ...(durationMs !== undefined && {
      ms: Math.round(durationMs),
      by: PROCESS_NAME,
    }),
  };
  return toAsciiJson([...parse(stored).slice(1 - MAX_FAILURES), failure]);
}

/** Reads the last failed attempts. */
export function readFailures(stored: string | null): EventFailure[] {
  return parse(stored).map(({ at, error, ms: durationMs, by: process }) => {
    return { at: new Date(at), error, durationMs, process };
  });
}

/** Omits what is no failure: other programs may write to the store. */
function parse(stored: string | null) {
  const failures = failuresSchema.parse(parseJson(stored ?? "[]"));
  return failures.slice(-MAX_FAILURES).filter((failure) => failure !== undefined);
}
