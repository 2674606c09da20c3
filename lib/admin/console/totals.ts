import type { Count } from "../../core/door";
import { keepNewest } from "../../kit/keep-newest";
import type { Minutes, RequestResult, RequestRow, TokenUse, Totals } from "./console-view";
import { listRejections } from "./rejections";

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const MAX_SHOWN_ACCOUNTS = 10;
const MAX_TOKENS = 16;

/** Adds up the counts of a journal; the senders of rejected requests are those of its rows. */
export function sumCounts(
  counts: readonly Count[],
  rows: readonly RequestRow[],
  tokenCount = 0,
): Totals {
  const byResult: Record<RequestResult, number> = {
    handled: 0,
    stored: 0,
    duplicate: 0,
    conflict: 0,
    rejected: 0,
    failed: 0,
  };
  const byCode: Record<string, number> = {};
  const attempts = { handled: 0, failed: 0 };
  for (const { name, count } of counts) {
    const [kind = "", member = ""] = name.split(":", 2);
    if (kind === "result") byResult[member as RequestResult] += count;
    else if (kind === "code") byCode[member] = (byCode[member] ?? 0) + count;
    else if (kind === "attempt") attempts[member as keyof typeof attempts] += count;
  }
  return {
    received: Object.values(byResult).reduce((sum, count) => sum + count, 0),
    byResult,
    byCode,
    attempts,
    rejections: listRejections(counts, rows),
    rotation: listTokenUse(counts, tokenCount),
  };
}

/** Lists the accounts of which another than the first token was used, or may be: the last ones. */
function listTokenUse(counts: readonly Count[], tokenCount: number): TokenUse[] {
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

/** Counts the requests and the attempts of the last 24 hours by the minute. */
export function listMinutes(counts: readonly Count[], nowMs: number): Minutes {
  const startMs = (Math.floor(nowMs / MINUTE_MS) - DAY_MINUTES + 1) * MINUTE_MS;
  const create = () => Array.from({ length: DAY_MINUTES }, () => 0);
  const minutes = { startMs, accepted: create(), bad: create(), handled: create() };
  for (const { name, minuteMs, count } of counts) {
    const index = (minuteMs - startMs) / MINUTE_MS;
    const series = SERIES[name];
    if (series !== undefined && index in minutes.accepted) {
      minutes[series][index] = (minutes[series][index] ?? 0) + count;
    }
  }
  return minutes;
}

const SERIES: Readonly<Record<string, "accepted" | "bad" | "handled">> = {
  "result:handled": "accepted",
  "result:stored": "accepted",
  "result:duplicate": "accepted",
  "result:conflict": "accepted",
  "result:rejected": "bad",
  "result:failed": "bad",
  "attempt:failed": "bad",
  "attempt:handled": "handled",
};
