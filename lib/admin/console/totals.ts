import type { ObservedRequest } from "../../receiver/inspection";
import { createRejections } from "./rejections";
import type { PendingWaits } from "../../challenge/challenge-wait";
import type { RequestResult, RequestRow, Totals } from "./console-view";

/** Of more accounts, those that sent last are kept. */
const MAX_ACCOUNTS = 100;
const MAX_SHOWN_ACCOUNTS = 10;
const MAX_TOKENS = 16;

/** Counts the responses of a receiver and the use of its tokens, since it was created. */
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
  const rejections = createRejections();
  const tokensByAccount = new Map<string, { count: number; lastAtMs: number | undefined }[]>();

  function countToken({ accountSid, tokenIndex, atMs }: RequestRow): void {
    if (accountSid === undefined || tokenIndex === undefined || tokenIndex >= MAX_TOKENS) return;
    const tokens = tokensByAccount.get(accountSid) ?? [];
    tokensByAccount.delete(accountSid);
    tokensByAccount.set(accountSid, tokens);
    const [oldest = ""] = tokensByAccount.keys();
    if (tokensByAccount.size > MAX_ACCOUNTS) tokensByAccount.delete(oldest);
    // All of a static list; of a function, those that were used.
    while (tokens.length < Math.min(Math.max(tokenIndex + 1, tokenCount), MAX_TOKENS)) {
      tokens.push({ count: 0, lastAtMs: undefined });
    }
    const use = tokens[tokenIndex];
    if (use === undefined) return;
    use.count++;
    use.lastAtMs = Math.max(use.lastAtMs ?? 0, atMs);
  }

  return {
    add(row: RequestRow, observed: ObservedRequest): void {
      const { result, code, atMs } = row;
      rejections.add(observed, atMs);
      countToken(row);
      received++;
      byResult[result]++;
      if (code !== undefined) byCode[code] = (byCode[code] ?? 0) + 1;
    },
    /** Counts that the handlers of a request failed after its response. */
    fail(earlier: RequestRow, code: string): void {
      byResult[earlier.result]--;
      byResult.failed++;
      byCode[code] = (byCode[code] ?? 0) + 1;
    },
    read({ count, oldestStartMs }: PendingWaits): Totals {
      const oldestMs = oldestStartMs === undefined ? undefined : performance.now() - oldestStartMs;
      const rotating = [...tokensByAccount].filter(([, tokens]) => tokens.length > 1);
      return {
        sinceMs,
        received,
        byResult: { ...byResult },
        byCode: { ...byCode },
        rejections: rejections.list(),
        waits: { count, oldestMs },
        rotation: rotating
          .slice(-MAX_SHOWN_ACCOUNTS)
          .map(([accountSid, tokens]) => ({ accountSid, tokens })),
      };
    },
  };
}
