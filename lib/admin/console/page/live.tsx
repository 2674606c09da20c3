import type { LiveUpdate, RequestRow, Totals } from "../console-view";
import { announce } from "./action";
import { ProblemError, readProblem } from "./api";
import { plural } from "./format";
import { createStore } from "./store";

/** How many rows are shown. */
export const MAX_ROWS = 200;
/** The server ends each stream after some seconds, and the page opens another immediately. */
const GRACE_MS = 1_500;
const SILENCE_MS = 20_000;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;
const ANNOUNCE_EVERY_MS = 5_000;

/** The receiver's list. */
export const live = createStore({
  /** The newest first. */
  rows: [] as readonly RequestRow[],
  /** The name of the process of `totals`. */
  process: "",
  /** Undefined until the first update. */
  totals: undefined as Totals | undefined,
  totalsAtMs: 0,
  /** How many rows this page has received. */
  seen: 0,
});
/** The state of the connection. */
export const connection = createStore({ look: "", text: "Connecting", isForbidden: false });
/** The rows that stay during a pause, or while one of them is read; undefined at other times. */
export const held = createStore<
  { rows: readonly RequestRow[]; seen: number; isPaused: boolean } | undefined
>(undefined);

/** Where the list of each process ends: behind a balancer, each stream may be of another one. */
let cursors = new Map<string, string>();
const MAX_PROCESSES = 20;
/** Whether the requests are of several processes. */
export const hasProcesses = (): boolean => cursors.size > 1;

let unannounced = 0;
let announceTimer: ReturnType<typeof setTimeout> | undefined;

function apply({ rows: changed, process, totals, isComplete, cursor }: LiveUpdate): void {
  cursors.delete(process.id);
  cursors = new Map([...cursors, [process.id, cursor] as const].slice(-MAX_PROCESSES));
  const isOwn = ({ id }: RequestRow) => id.startsWith(`${process.id}-`);
  const earlier = live.value.rows.filter((row) => !isComplete || !isOwn(row));
  const known = new Set(live.value.rows.map(({ id }) => id));
  const added = changed.filter(({ id }) => !known.has(id));
  const byId = new Map([...earlier, ...changed].map((row) => [row.id, row]));
  live.value = {
    rows: [...byId.values()].toSorted((a, b) => b.atMs - a.atMs).slice(0, MAX_ROWS),
    process: process.name,
    totals,
    totalsAtMs: performance.now(),
    seen: live.value.seen + added.length,
  };
  const bad = isComplete ? 0 : added.filter(({ status }) => status >= 400).length;
  unannounced += bad;
  // Each stream begins with an update, also without a request.
  if (bad > 0) announceTimer ??= setTimeout(announceRows, ANNOUNCE_EVERY_MS);
}

function announceRows(): void {
  announceTimer = undefined;
  if (!document.hidden) announce(`${plural(unannounced, "request")} rejected or failed.`);
  unannounced = 0;
}

/** Follows the receiver's list for as long as the page is open. */
export async function followReceiver(): Promise<never> {
  let pauseMs = FIRST_PAUSE_MS;
  let lostTimer: ReturnType<typeof setTimeout> | undefined;
  const setState = (look: string, text: string, isForbidden = false) => {
    clearTimeout(lostTimer);
    lostTimer = undefined;
    if (connection.value.text !== text) connection.value = { look, text, isForbidden };
  };
  for (;;) {
    // Browsers open six connections to an origin: hidden pages must not use them up.
    if (document.hidden) {
      await new Promise((show) =>
        document.addEventListener("visibilitychange", show, { once: true }),
      );
    }
    try {
      await readStream((update) => {
        pauseMs = FIRST_PAUSE_MS;
        setState("good", "Live");
        apply(update);
      });
    } catch (error) {
      const problem = error instanceof ProblemError ? error : undefined;
      const { status, message = "", retryAfterMs = 0 } = problem ?? {};
      if (status === 401 || status === 403) setState("bad", "Signed out or not allowed", true);
      else if (status === 503) setState("bad", message);
      else lostTimer ??= setTimeout(setState, GRACE_MS, "bad", "Connection lost, trying again");
      await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, retryAfterMs)));
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }
}

/** Reads one stream to its end. Not an EventSource: it hides why a server refuses it. */
async function readStream(onUpdate: (update: LiveUpdate) => void): Promise<void> {
  const abort = new AbortController();
  const end = () => abort.abort();
  document.addEventListener("visibilitychange", end, { once: true });
  let silence = setTimeout(end, SILENCE_MS);
  try {
    const path = `console/live?after=${[...cursors.values()].join(",")}`;
    const response = await fetch(path, { signal: abort.signal });
    if (!response.ok || response.body === null) throw await readProblem(response);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(end, SILENCE_MS);
      const parts = (text + value).split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) onUpdate(JSON.parse(part.slice("data: ".length)) as LiveUpdate);
    }
  } catch (error) {
    if (!document.hidden) throw error;
  } finally {
    clearTimeout(silence);
    document.removeEventListener("visibilitychange", end);
  }
}
