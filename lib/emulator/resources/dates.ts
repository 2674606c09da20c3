/** Formats a date as keys have it: `Tue, 05 Mar 2024 09:14:52 +0000` (section 2.1). */
export function formatRfc2822(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

/** Formats a date as webhooks have it: `2024-03-05T09:20:00Z` (section 2.3). */
export function formatIso8601(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
