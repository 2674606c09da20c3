import type { Count, RequestEntry } from "../../core/door";
import { keepNewest } from "../../kit/keep-newest";
import { listRejections } from "./rejections";
import type { RequestRow } from "./request-row";

const BAR_MS = 15 * 60_000;
const DAY_BARS = 96;
const MAX_SHOWN_ACCOUNTS = 10;
const MAX_TOKENS = 16;

/** Adds up the counts of a journal; its rows have the senders of rejected requests. */
export function sumCounts(counts: readonly Count[], rows: readonly RequestRow[], tokenCount = 0) {
  const byResult: Record<RequestEntry["result"], number> = {
    handled: 0,
    stored: 0,
    duplicate: 0,
    conflict: 0,
    rejected: 0,
    failed: 0,
  };
  const byCode: Record<string, number> = {};
  let failedAttempts = 0;
  for (const { name, count } of counts) {
    const [kind = "", member = ""] = name.split(":", 2);
    if (kind === "result") byResult[member as keyof typeof byResult] += count;
    else if (kind === "code") byCode[member] = (byCode[member] ?? 0) + count;
    else if (name === "attempt:failed") failedAttempts += count;
  }
  return {
    received: Object.values(byResult).reduce((sum, count) => sum + count, 0),
    /** By the response: an event of a queue is "stored", also when its handlers fail later. */
    byResult,
    byCode,
    /** Of the handlers, after the response. */
    failedAttempts,
    rejections: listRejections(counts, rows),
    rotation: listTokenUse(counts, tokenCount),
  };
}

/** Lists the last accounts with several tokens: the requests of each token, and the last minute. */
function listTokenUse(counts: readonly Count[], tokenCount: number) {
  const accounts = new Map<string, { count: number; lastAtMs: number | undefined }[]>();
  for (const { name, minuteMs, count } of counts) {
    const [, accountSid = "", index = ""] = /^token:(.*):(\d+)$/.exec(name) ?? [];
    const tokenIndex = Number(index);
    if (index === "" || tokenIndex >= MAX_TOKENS) continue;
    const tokens = accounts.get(accountSid) ?? [];
    keepNewest(accounts, accountSid, tokens, Infinity);
    // All of a static list; of a function, those that were used.
    while (tokens.length < Math.min(Math.max(tokenIndex + 1, tokenCount), MAX_TOKENS)) {
      tokens.push({ count: 0, lastAtMs: undefined });
    }
    tokens[tokenIndex] = { count: (tokens[tokenIndex]?.count ?? 0) + count, lastAtMs: minuteMs };
  }
  return [...accounts]
    .filter(([, tokens]) => tokens.length > 1)
    .slice(-MAX_SHOWN_ACCOUNTS)
    .map(([accountSid, tokens]) => ({ accountSid, tokens }));
}

const BAD: ReadonlySet<string> = new Set(["result:rejected", "result:failed", "attempt:failed"]);

/** Counts the requests, and the attempts that failed, of each quarter of an hour of the last day. */
export function listBars(counts: readonly Count[]) {
  const startMs = (Math.floor(Date.now() / BAR_MS) - DAY_BARS + 1) * BAR_MS;
  const bars = Array.from({ length: DAY_BARS }, (_, index) => {
    return { fromMs: startMs + index * BAR_MS, accepted: 0, bad: 0 };
  });
  for (const { name, minuteMs, count } of counts) {
    const bar = bars[Math.floor((minuteMs - startMs) / BAR_MS)];
    if (bar === undefined) continue;
    if (BAD.has(name)) bar.bad += count;
    else if (name.startsWith("result:")) bar.accepted += count;
  }
  return bars;
}
