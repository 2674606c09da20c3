import type { ServerResponse } from "node:http";
import { clearInterval, clearTimeout } from "node:timers";
import { Callbacks, destroyResponse } from "../../kit/callbacks";
import type { LiveUpdate } from "./console-view";
import type { RequestLog } from "./request-log";

/** Changes are collected for this time before they are sent. */
const COLLECT_MS = 300;
/** How often pending waits and stopped servers are looked at. */
const TICK_MS = 1_000;
/** A stream ends after this time: the page opens another, which is authorized again. */
const MAX_AGE_MS = 4_000;
const MAX_STREAMS = 50;
/** How many rejections are explained for open pages, without a click, within 60 s. */
const MAX_EXPLANATIONS = 3;

/** One open page. It has no queue: rows that it has not received are read from the log. */
interface Stream {
  res: ServerResponse;
  /** What they throw ends this stream alone. */
  callbacks: Callbacks;
  sentChange: number;
  sentWaits: number;
  endAtMs: number;
}

/**
 * Creates the function that starts a stream of server-sent events: after the cursor of an earlier one
 * of this process, of several cursors with a comma between them, or from the beginning. It returns
 * false when too many pages are open. Without an open page there is no timer; with one, `refresh`
 * brings rows up to date.
 *
 * @param report called with an error of a response whose methods a middleware has replaced.
 */
export function createLive(
  log: RequestLog,
  report: (error: unknown) => void,
  refresh?: () => Promise<void>,
) {
  const streams = new Set<Stream>();
  const timers = new Callbacks(report);
  let flushTimer: NodeJS.Timeout | undefined;
  let tickTimer: NodeJS.Timeout | undefined;
  let explainedAtMs: number[] = [];

  log.onChange(() => {
    if (streams.size === 0 || flushTimer !== undefined) return;
    flushTimer = timers.setTimeout(flush, COLLECT_MS).unref();
  });

  function flush(): void {
    // While the timer is set: an explanation must not lead to the next one.
    explainNewest();
    flushTimer = undefined;
    const totals = log.readTotals();
    for (const stream of streams) sendIfBehind(stream, totals);
  }

  function sendIfBehind(stream: Stream, totals: LiveUpdate["totals"]): void {
    if (isBehind(stream, totals)) stream.callbacks.run(() => send(stream, totals));
  }

  /** An attacker who sends many requests must not use up the receiver's budget here. */
  function explainNewest(): void {
    const nowMs = performance.now();
    explainedAtMs = explainedAtMs.filter((atMs) => nowMs - atMs < 60_000);
    if (explainedAtMs.length < MAX_EXPLANATIONS && log.explainNewest()) explainedAtMs.push(nowMs);
  }

  function send(stream: Stream, totals: LiveUpdate["totals"], isComplete = false): void {
    // A slow page misses rows that the log no longer has, and never makes this process buffer.
    if (stream.res.writableNeedDrain) return;
    const rows = log.listRows(stream.sentChange);
    stream.sentChange = log.change;
    const { owner } = log;
    const cursor = `${owner.id}-${log.change}`;
    const update: LiveUpdate = { process: owner, cursor, isComplete, rows, totals };
    // The age of the oldest wait grows: the page counts on by itself.
    stream.sentWaits = totals.waits.count;
    stream.res.write(`data: ${JSON.stringify(update)}\n\n`);
  }

  function tick(): void {
    void refresh?.();
    const nowMs = performance.now();
    const totals = log.readTotals();
    for (const stream of streams) {
      // A process that shuts down must not wait for its open pages.
      if (nowMs >= stream.endAtMs || !isListening(stream.res)) end(stream);
      else sendIfBehind(stream, totals);
    }
  }

  /** Ends a stream: a page that reads slowly closes it later, and a write before that is an error. */
  function end(stream: Stream): void {
    remove(stream);
    stream.callbacks.run(() => void stream.res.end());
  }

  function isBehind({ sentChange, sentWaits }: Stream, { waits }: LiveUpdate["totals"]): boolean {
    return sentChange < log.change || sentWaits !== waits.count;
  }

  function remove(stream: Stream): void {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(tickTimer);
    clearTimeout(flushTimer);
    tickTimer = flushTimer = undefined;
  }

  return function openStream(res: ServerResponse, after = ""): boolean {
    if (streams.size >= MAX_STREAMS) return false;
    const own = `${log.owner.id}-`;
    const cursor = after.split(",").find((one) => one.startsWith(own));
    const change = Number(cursor?.slice(own.length) ?? NaN);
    const isComplete = !(change <= log.change);
    const nowMs = performance.now();
    const callbacks = new Callbacks((error) => {
      remove(stream);
      report(error);
      destroyResponse(res.req, res);
    });
    const stream: Stream = {
      res,
      callbacks,
      sentChange: isComplete ? 0 : change,
      sentWaits: 0,
      endAtMs: nowMs + MAX_AGE_MS,
    };
    res.statusCode = 200;
    res.setHeader("Content-Type", "text/event-stream; charset=utf-8");
    // no-transform: a middleware that compresses would hold the events back.
    res.setHeader("Cache-Control", "no-store, no-transform");
    res.setHeader("X-Accel-Buffering", "no");
    res.flushHeaders();
    explainNewest();
    callbacks.on(res, "close", () => remove(stream)).on(res, "error", callbacks.onThrown);
    streams.add(stream);
    tickTimer ??= timers.setInterval(tick, TICK_MS).unref();
    void refresh?.();
    callbacks.run(() => send(stream, log.readTotals(), isComplete));
    return true;
  };
}

function isListening({ req }: ServerResponse): boolean {
  // Node.js sets `server` on the sockets of a server; sockets of HTTP/2 and of adapters have none.
  const { server } = req.socket as { server?: { listening?: unknown } };
  return server?.listening !== false;
}
