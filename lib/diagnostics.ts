import { channel, type Channel } from "node:diagnostics_channel";

/**
 * What a receiver tells its observers, by the name of the channel: each is
 * `express-push-verification:` and this name, of `node:diagnostics_channel`.
 *
 * Durations are in milliseconds. Nothing in a message identifies a user, and nothing is secret.
 */
export interface Diagnostics {
  /** A call came. */
  received: { method: string };
  /** It was refused. */
  rejected: { code: string; status: number; durationMs: number };
  /** It waits, because a store gives no good answer. */
  held: object;
  /** Its event was stored by the queue. */
  stored: { type: string; durationMs: number };
  /** It was dropped: its uuid was handled or stored before. */
  duplicate: { type: string };
  /** It was dropped, though its content differs from that of the call that had its uuid before. */
  conflict: { type: string };
  /** The handlers of an event are done. */
  handled: { type: string; attempt: number; durationMs: number };
  /** An event had neither a handler of its type nor one of `onUnhandled`. */
  unhandled: { type: string };
  /** The handlers of an event failed, or took too long. */
  failed: { type: string; attempt: number; code: string; durationMs: number };
  /** An event will not be handled again unless it is revived. */
  "dead-lettered": { type: string; attempts: number };
}

/** The names of all channels, without what they begin with. */
export const DIAGNOSTIC_NAMES = [
  "received",
  "rejected",
  "held",
  "stored",
  "duplicate",
  "conflict",
  "handled",
  "unhandled",
  "failed",
  "dead-lettered",
] as const satisfies readonly (keyof Diagnostics)[];

const channels = new Map<keyof Diagnostics, Channel>(
  DIAGNOSTIC_NAMES.map((name) => [name, channel(`express-push-verification:${name}`)]),
);

/** Tells the observers of a channel, if there are any. One that throws harms no call. */
export function publish<Name extends keyof Diagnostics>(
  name: Name,
  message: Diagnostics[Name],
): void {
  const open = channels.get(name);
  if (open?.hasSubscribers === true) open.publish(message);
}
