import { createAccountMap } from "./account-map";
import type { DedupeKey, DedupeStore } from "./dedupe-store";
import { checkOptions, wholeNumber, type OptionRules } from "./option-rules";

/** Options of {@link createMemoryDedupe}. */
export interface MemoryDedupeOptions {
  /** How long a handled uuid is kept, in milliseconds. @default 86_400_000 (24 h) */
  ttlMs?: number | undefined;
  /** How many handled uuids are kept; the oldest are evicted first. @default 100_000 */
  maxEntries?: number | undefined;
  /** How many bytes the handled uuids may take. @default 33_554_432 (32 MiB) */
  maxBytes?: number | undefined;
}

const RULES: OptionRules<MemoryDedupeOptions> = {
  ttlMs: wholeNumber(1, Number.MAX_SAFE_INTEGER, "milliseconds"),
  maxEntries: wholeNumber(1, 2 ** 24, "webhook requests"),
  maxBytes: wholeNumber(1, Number.MAX_SAFE_INTEGER, "bytes"),
};

/** Measured for a Map entry, its two array elements and two strings without their characters. */
const ENTRY_BYTES = 120;

interface RunningClaim {
  owner: string;
  contentHash: string;
  lapsesMs: number;
}

/**
 * Creates a {@link DedupeStore} in the memory of this process, bounded in time, count and bytes.
 * It emits one process warning, `DEDUPE_EVICTED`, when it evicts a uuid within its `ttlMs`: from
 * then on a replay of that uuid is handled again.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createMemoryDedupe(options: MemoryDedupeOptions = {}): DedupeStore {
  checkOptions("createMemoryDedupe", options, RULES);
  const { ttlMs = 86_400_000, maxEntries = 100_000, maxBytes = 33_554_432 } = options;
  // By account, then by uuid: a joined key would be made and hashed anew by each method.
  const running = new Map<string, Map<string, RunningClaim>>();
  const done = createAccountMap<string>({
    ttlMs,
    maxEntries,
    maxBytes,
    sizeOf: (key, hash) => ENTRY_BYTES + key.length + hash.length,
    onFirstEviction: warnOfEviction,
  });

  return {
    claim({ accountSid, uuid, owner, contentHash, leaseMs }) {
      const handledHash = done.get(accountSid, uuid);
      if (handledHash !== undefined) return handledHash === contentHash ? "done" : "conflict";
      const nowMs = performance.now();
      const current = running.get(accountSid)?.get(uuid);
      if (current !== undefined && current.owner !== owner && current.lapsesMs > nowMs) {
        return "running";
      }
      const claim = { owner, contentHash, lapsesMs: nowMs + leaseMs };
      const claims = running.get(accountSid);
      if (claims === undefined) running.set(accountSid, new Map([[uuid, claim]]));
      else claims.set(uuid, claim);
      return "new";
    },
    complete(key) {
      const claim = takeClaim(key);
      if (claim !== undefined) done.add(key.accountSid, key.uuid, () => claim.contentHash);
    },
    release(key) {
      takeClaim(key);
    },
  };

  function takeClaim({ accountSid, uuid, owner }: DedupeKey): RunningClaim | undefined {
    const claims = running.get(accountSid);
    const claim = claims?.get(uuid);
    if (claims === undefined || claim?.owner !== owner) return undefined;
    claims.delete(uuid);
    if (claims.size === 0) running.delete(accountSid);
    return claim;
  }
}

function warnOfEviction(): void {
  process.emitWarning(
    "createMemoryDedupe evicted a uuid before its ttlMs: a replay of it would be handled again. Raise maxEntries or maxBytes, or pass a DedupeStore of a database.",
    { type: "PushWebhooksWarning", code: "DEDUPE_EVICTED" },
  );
}
