const clock = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
} as const;
const time = new Intl.DateTimeFormat(undefined, clock);
const dayAndTime = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", ...clock });
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** The time zone of the browser, which all times are in. */
export const timeZone = time.resolvedOptions().timeZone;

/** Formats a time to the millisecond, with its day unless that is today. */
export function formatTime(atMs: number): string {
  const isToday = new Date(atMs).toDateString() === new Date().toDateString();
  return (isToday ? time : dayAndTime).format(atMs);
}

/** Formats a time with its date, also one that a resource has as a text. */
export function formatDate(at: number | string | null): string {
  const date = new Date(at ?? "");
  return Number.isNaN(date.getTime()) ? "unknown" : dateTime.format(date);
}

/** Formats a number with separators. */
export const formatCount = (count: number): string => number.format(count);

/** Formats a short duration, such as how long a request took. */
export const formatDuration = (ms: number): string => `${number.format(ms)} ms`;

/** Formats an age in its largest unit. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Formats a number of things. */
export const plural = (count: number, one: string): string =>
  `${formatCount(count)} ${one}${count === 1 ? "" : "s"}`;
