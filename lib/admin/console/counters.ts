import type { ObservedRequest, PendingWait } from "../../core/door";
import { keepNewest } from "../../kit/keep-newest";
import { copyText } from "../../kit/text";
import type { Rejections, RequestResult, RequestRow, Series, Totals } from "./console-view";

const MAX_ACCOUNTS = 100;
const MAX_SHOWN_ACCOUNTS = 10;
const MAX_TOKENS = 16;
const MAX_SOURCES = 5;
/** The last 60 minutes by the minute, and the last 24 hours by the hour. */
const SERIES = [
  { stepMs: 60_000, count: 60 },
  { stepMs: 3_600_000, count: 24 },
];

/**
 * Counts the requests of a receiver since it was created: by result, over time, by token, and the
 * rejected ones by source. Counters alone, however many requests there are; of more accounts and
 * sources, those that sent last are kept.
 */
export function createCounters(tokenCount = 0) {
  const sinceMs = Date.now();
  let received = 0;
  const byResult: Record<RequestResult, number> = {
    handled: 0,
    stored: 0,
    duplicate: 0,
    conflict: 0,
    rejected: 0,
    failed: 0,
  };
  const byCode: Record<string, number> = {};
  const series = SERIES.map(({ stepMs, count }) => createSeries(stepMs, count));
  type Source = Rejections["sources"][number];
  type Counted = Omit<Rejections, "sources"> & { sources: Map<string, Source> };
  const rejections = new Map<string, Counted>();
  const tokensByAccount = new Map<string, { count: number; lastAtMs: number | undefined }[]>();

  function countCode(code: string): void {
    byCode[code] = (byCode[code] ?? 0) + 1;
  }

  function countToken({ accountSid, tokenIndex, atMs }: RequestRow): void {
    if (accountSid === undefined || tokenIndex === undefined || tokenIndex >= MAX_TOKENS) return;
    const tokens = tokensByAccount.get(accountSid) ?? [];
    keepNewest(tokensByAccount, accountSid, tokens, MAX_ACCOUNTS);
    // All of a static list; of a function, those that were used.
    while (tokens.length < Math.min(Math.max(tokenIndex + 1, tokenCount), MAX_TOKENS)) {
      tokens.push({ count: 0, lastAtMs: undefined });
    }
    const { count = 0, lastAtMs = 0 } = tokens[tokenIndex] ?? {};
    tokens[tokenIndex] = { count: count + 1, lastAtMs: Math.max(lastAtMs, atMs) };
  }

  function countRejection(code: string, { request, headers }: ObservedRequest, atMs: number): void {
    const sources = rejections.get(code)?.sources ?? new Map<string, Source>();
    const { count = 0, firstAtMs = atMs } = rejections.get(code) ?? {};
    rejections.set(code, { code, count: count + 1, firstAtMs, lastAtMs: atMs, sources });
    const read = (header: string) => {
      const text = headers.find(([name]) => name === header)?.[1];
      return text && copyText(text);
    };
    const names = {
      address: request.remoteAddress,
      forwardedFor: read("x-forwarded-for"),
      userAgent: read("user-agent"),
    };
    const key = JSON.stringify(names);
    const sent = (sources.get(key)?.count ?? 0) + 1;
    keepNewest(sources, key, { ...names, count: sent, lastAtMs: atMs }, MAX_SOURCES);
  }

  return {
    add(row: RequestRow, observed: ObservedRequest): void {
      const { result, code, atMs, status } = row;
      countToken(row);
      received++;
      byResult[result]++;
      if (code !== undefined) countCode(code);
      if (code !== undefined && status >= 400 && status < 500) countRejection(code, observed, atMs);
      for (const one of series) one.add(atMs, status < 400);
    },
    /** Counts that the handlers of a request failed after its response. */
    fail(earlier: RequestRow, code: string): void {
      byResult[earlier.result]--;
      byResult.failed++;
      countCode(code);
    },
    readTotals(waits: readonly PendingWait[]): Totals {
      const [oldest] = waits;
      const oldestMs = oldest && performance.now() - oldest.startMs;
      const rotating = [...tokensByAccount].filter(([, tokens]) => tokens.length > 1);
      return {
        sinceMs,
        received,
        byResult: { ...byResult },
        byCode: { ...byCode },
        rejections: [...rejections.values()].map(({ code, firstAtMs, lastAtMs, ...rejected }) => {
          const sources = [...rejected.sources.values()].toReversed();
          return { code, count: rejected.count, firstAtMs, lastAtMs, sources };
        }),
        waits: { count: waits.length, oldestMs },
        rotation: rotating
          .slice(-MAX_SHOWN_ACCOUNTS)
          .map(([accountSid, tokens]) => ({ accountSid, tokens })),
      };
    },
    readSeries: (nowMs: number): Series[] => series.map((one) => one.read(nowMs)),
  };
}

function createSeries(stepMs: number, count: number) {
  // A ring: the counters of a step are at its number modulo the size.
  const steps = Array.from({ length: count }, () => ({ step: 0, accepted: 0, bad: 0 }));
  return {
    add(atMs: number, isAccepted: boolean): void {
      const step = Math.floor(atMs / stepMs);
      const earlier = steps[step % count];
      const counters = earlier?.step === step ? earlier : { step, accepted: 0, bad: 0 };
      steps[step % count] = counters;
      counters[isAccepted ? "accepted" : "bad"]++;
    },
    read(nowMs: number): Series {
      const last = Math.floor(nowMs / stepMs);
      const counters = Array.from({ length: count }, (_, index) => {
        const step = last - count + 1 + index;
        const found = steps[step % count];
        return found?.step === step ? found : { accepted: 0, bad: 0 };
      });
      return {
        stepMs,
        startMs: (last - count + 1) * stepMs,
        accepted: counters.map(({ accepted }) => accepted),
        bad: counters.map(({ bad }) => bad),
      };
    },
  };
}
