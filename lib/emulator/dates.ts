/** Tells the time, in milliseconds since 1970. */
export type Clock = () => number;

/** The time in whole seconds, which is as fine as the service's dates are. */
export function readSeconds(now: Clock): number {
  return Math.floor(now() / 1000);
}

/** A date as on keys: `Tue, 05 Mar 2024 09:14:52 +0000` (specification, section 2.1). */
export function formatRfc2822(seconds: number): string {
  return new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
}

/** A date as on webhooks: `2024-03-05T09:20:00Z` (specification, section 2.3). */
export function formatIso8601(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
