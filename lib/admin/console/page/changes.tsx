import type { Changes, RequestRow, Totals } from "../console-view";
import { announce } from "./action";
import { describeProblem, ProblemError, send, session } from "./api";
import { plural } from "./format";
import { createLoader, createStore } from "./store";

/** How many rows are shown. */
export const MAX_ROWS = 200;
/** How often the page asks for changes. */
export const POLL_MS = 3_000;
/** A process that did not respond for this long may have ended. */
const PROCESS_MS = 60_000;

/** The receiver's list. */
export const live = createStore({
  /** The newest first. */
  rows: [] as readonly RequestRow[],
  /** The name of the process of `totals`. */
  process: "",
  /** Undefined until the first response. */
  totals: undefined as Totals | undefined,
  totalsAtMs: 0,
  waits: [] as Changes["waits"],
  series: [] as Changes["series"],
  /** How many rows this page has received. */
  seen: 0,
});
/** The rows that stay while one of them is used; undefined at other times. */
export const held = createStore<{ rows: readonly RequestRow[]; seen: number } | undefined>(
  undefined,
);

/** Where the list of each process ends: behind a balancer, each response may be of another one. */
let cursors = new Map<string, { cursor: string; atMs: number }>();
/** How many processes have responded lately. */
export const countProcesses = (): number => cursors.size;

/** Asks for what has changed since the last response, and shows it. */
export const changes = createLoader(async () => {
  const after = [...cursors.values()].map(({ cursor }) => cursor).join(",");
  apply(await send<Changes>("GET", `console/changes?after=${after}`));
});

function apply(found: Changes): void {
  const { rows: changed, process, totals, waits, series, isComplete, cursor } = found;
  const atMs = performance.now();
  const others = [...cursors].filter(
    ([id, one]) => id !== process.id && atMs - one.atMs < PROCESS_MS,
  );
  cursors = new Map([...others, [process.id, { cursor, atMs }]]);
  const isOwn = ({ id }: RequestRow) => id.startsWith(`${process.id}-`);
  const earlier = live.value.rows.filter((row) => !isComplete || !isOwn(row));
  const known = new Set(live.value.rows.map(({ id }) => id));
  const added = changed.filter(({ id }) => !known.has(id));
  const byId = new Map([...earlier, ...changed].map((row) => [row.id, row]));
  live.value = {
    rows: [...byId.values()].toSorted((a, b) => b.atMs - a.atMs).slice(0, MAX_ROWS),
    process: process.name,
    totals,
    totalsAtMs: atMs,
    waits,
    series,
    seen: live.value.seen + added.length,
  };
  const bad = isComplete ? 0 : added.filter(({ status }) => status >= 400).length;
  if (bad > 0 && !document.hidden) announce(`${plural(bad, "request")} rejected or failed.`);
}

/** Whether the list is up to date, in words; the banner of the page says that a session has ended. */
export function describeConnection(): { look: string; text: string } {
  const { error, atMs } = changes;
  if (session.value.isOver) return { look: "bad", text: "Signed out" };
  if (error === undefined)
    return { look: "good", text: atMs === undefined ? "Connecting" : "Up to date" };
  const isLost = error instanceof ProblemError && error.status === 0;
  return { look: "bad", text: isLost ? "Connection lost, trying again" : describeProblem(error) };
}
