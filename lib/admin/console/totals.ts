import type { ObservedRequest } from "../../receiver/inspection";
import { createRejections } from "./rejections";
import type { PendingWaits } from "../../challenge/challenge-wait";
import type { RequestResult, RequestRow, TokenUse, Totals } from "./console-view";

const MAX_ACCOUNTS = 10;
const MAX_TOKENS = 16;

/** Counts the results and codes of requests since it was created. */
export function createCounters() {
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

  return {
    add({ result, code, atMs }: RequestRow, observed: ObservedRequest): void {
      rejections.add(observed, atMs);
      received++;
      byResult[result]++;
      if (code !== undefined) byCode[code] = (byCode[code] ?? 0) + 1;
    },
    /** Counts a change of a row, such as a failure of its handlers after the response. */
    move({ result, code }: RequestRow, to: RequestRow): void {
      byResult[result]--;
      byResult[to.result]++;
      if (to.code !== undefined && to.code !== code) byCode[to.code] = (byCode[to.code] ?? 0) + 1;
    },
    read(rows: readonly RequestRow[], waits: PendingWaits, tokenCount: number | undefined): Totals {
      const { count, oldestStartMs } = waits;
      const oldestMs = oldestStartMs === undefined ? undefined : performance.now() - oldestStartMs;
      return {
        sinceMs,
        received,
        byResult: { ...byResult },
        byCode: { ...byCode },
        rejections: rejections.list(),
        waits: { count, oldestMs },
        rotation: findRotation(rows, tokenCount),
      };
    },
  };
}

/** Counts the tokens in use by account: all of a static list; of a function, where it has several. */
function findRotation(rows: readonly RequestRow[], tokenCount: number | undefined): TokenUse[] {
  const uses = new Map<string, { count: number; lastAtMs: number | undefined }[]>();
  for (const { accountSid, tokenIndex, atMs } of rows) {
    if (accountSid === undefined || tokenIndex === undefined || tokenIndex >= MAX_TOKENS) continue;
    const tokens = uses.get(accountSid) ?? [];
    uses.set(accountSid, tokens);
    while (tokens.length < Math.min(Math.max(tokenIndex + 1, tokenCount ?? 0), MAX_TOKENS)) {
      tokens.push({ count: 0, lastAtMs: undefined });
    }
    const use = tokens[tokenIndex];
    if (use !== undefined) {
      use.count++;
      use.lastAtMs = Math.max(use.lastAtMs ?? 0, atMs);
    }
  }
  const rotating = [...uses].filter(([, tokens]) => tokens.length > 1);
  return rotating.slice(0, MAX_ACCOUNTS).map(([accountSid, tokens]) => ({ accountSid, tokens }));
}
