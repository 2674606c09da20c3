import { channel, type Channel } from "node:diagnostics_channel";

/**
 * The messages of the diagnostics channels by name. The channel of `node:diagnostics_channel` has
 * the prefix `express-push-verification:` before the name.
 *
 * Durations are in milliseconds. A message contains no secret and nothing that identifies a user.
 * @experimental
 */
export interface Diagnostics {
  /** A webhook request arrived. */
  received: { method: string };
  /** A webhook request was rejected; `parameter` is that of `WebhookError`. */
  rejected: { code: string; status: number; durationMs: number; parameter?: string };
  /** A store or a token lookup failed or did not respond, and is retried. */
  retrying: object;
  /** The queue stored an event. */
  stored: { type: string; durationMs: number };
  /** A delivery was dropped as a duplicate: its uuid was handled or stored before. */
  duplicate: { type: string };
  /** A delivery was dropped: its uuid was handled or stored before, with other content. */
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
  "retrying",
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

/**
 * Publishes a message on a channel that has a subscriber. An error of a subscriber does not change a
 * response.
 */
export function publish<Name extends keyof Diagnostics>(
  name: Name,
  describe: () => Diagnostics[Name],
): void {
  const open = channels.get(name);
  if (open?.hasSubscribers === true) open.publish(describe());
}
