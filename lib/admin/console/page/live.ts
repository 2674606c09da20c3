import type { LiveUpdate } from "../console-view";
import { type ProblemError, send } from "./api";

/** The state of the connection to the receiver's list. */
export type LiveState = "connecting" | "live" | "lost" | "forbidden";

/** A stream is ended and opened again every two minutes: that is not worth a word. */
const GRACE_MS = 1_500;
/** The server sends something every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5_000;

/** Keeps a connection to the receiver's list: connects again after each loss. */
export function connectLive(
  onUpdate: (update: LiveUpdate) => void,
  onState: (state: LiveState) => void,
): void {
  let source: EventSource | undefined;
  let state: LiveState = "connecting";
  let pauseMs = FIRST_PAUSE_MS;
  let lostTimer: number | undefined;
  let retryTimer: number | undefined;
  let silenceTimer: number | undefined;

  function setState(next: LiveState): void {
    clearTimeout(lostTimer);
    lostTimer = undefined;
    if (state !== next) onState((state = next));
  }

  function open(): void {
    source = new EventSource("console/live");
    source.addEventListener("message", ({ data }: MessageEvent<string>) => {
      pauseMs = FIRST_PAUSE_MS;
      setState("live");
      watchSilence();
      onUpdate(JSON.parse(data) as LiveUpdate);
    });
    source.addEventListener("beat", watchSilence);
    source.addEventListener("error", lose);
    watchSilence();
  }

  function close(): void {
    source?.close();
    source = undefined;
    clearTimeout(silenceTimer);
    clearTimeout(retryTimer);
  }

  function watchSilence(): void {
    clearTimeout(silenceTimer);
    silenceTimer = setTimeout(lose, SILENCE_MS);
  }

  function lose(): void {
    close();
    lostTimer ??= setTimeout(() => {
      if (state !== "forbidden") setState("lost");
    }, GRACE_MS);
    retryTimer = setTimeout(() => void retry(), pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }

  /** An EventSource does not tell a rejection from a server that is down: a request does. */
  async function retry(): Promise<void> {
    try {
      await send("GET", "console");
      open();
    } catch (error) {
      const { status } = error as ProblemError;
      if (status === 401 || status === 403) setState("forbidden");
      lose();
    }
  }

  // Browsers open six connections to an origin: hidden pages must not use them up.
  document.addEventListener("visibilitychange", () => {
    close();
    if (!document.hidden) open();
  });
  if (!document.hidden) open();
}
