import { channel, type Channel } from "node:diagnostics_channel";

/**
 * The messages of the diagnostics channels by name. The channel of `node:diagnostics_channel` is
 * called `express-push-verification:` and the name.
 *
 * Durations are in milliseconds. A message holds no secret and nothing that identifies a user.
 *
 * @experimental
 */
export interface Diagnostics {
  /** A webhook request arrived. */
  received: { method: string };
  /** It was rejected. */
  rejected: { code: string; status: number; durationMs: number };
  /** It waits because a store or a token lookup fails or does not respond. */
  held: object;
  /** Its event was stored by the queue. */
  stored: { type: string; durationMs: number };
  /** It was dropped as a duplicate: its uuid was handled or stored before. */
  duplicate: { type: string };
  /** It was dropped although its content differs from the first request with its uuid. */
  conflict: { type: string };
  /** The handlers of an event have finished. */
  handled: { type: string; attempt: number; durationMs: number };
  /** An event had neither a handler of its type nor one of `onUnhandled`. */
  unhandled: { type: string };
  /** The handlers of an event failed or timed out. */
  failed: { type: string; attempt: number; code: string; durationMs: number };
  /** An event exhausted its attempts. */
  "dead-lettered": { type: string; attempts: number };
}

/** The names of the diagnostics channels. */
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

/** Publishes a message on a channel. A subscriber that throws changes no response. */
export function publish<Name extends keyof Diagnostics>(
  name: Name,
  message: Diagnostics[Name],
): void {
  const open = channels.get(name);
  if (open?.hasSubscribers === true) open.publish(message);
}
