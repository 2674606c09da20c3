import { FairMap } from "../../kit/fair-map";
import { TextColumn } from "../../kit/text-column";
import type { Claim, DedupeClaim, DedupeKey, DedupeStore } from "./dedupe-store";
import { warnOnce } from "../../kit/process-warning";
import { validateOptions, wholeNumber, type OptionRules } from "../../kit/validate-options";

/** How many uuids are kept, and for how long. */
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

/** The bytes of a signature. */
const HASH_BYTES = 28;

interface RunningClaim {
  owner: string;
  contentHash: string;
  lapsesAtMs: number;
}

/** A store that decides at once and cannot fail. */
export interface MemoryDedupe extends DedupeStore {
  claim(claim: DedupeClaim): Claim;
  complete(claim: DedupeKey): void;
  release(claim: DedupeKey): void;
}

const memoryStores = new WeakSet<object>();

/** Returns whether {@link createMemoryDedupe} created a store. */
export function isMemoryDedupe(store: object): store is MemoryDedupe {
  return memoryStores.has(store);
}

/**
 * Creates a {@link DedupeStore} in the memory of this process, bounded in time, count and bytes.
 * It emits one process warning, `DEDUPE_EVICTED`, when it evicts a uuid within its `ttlMs`: from
 * then on a replay of that uuid is handled again.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createMemoryDedupe(options: MemoryDedupeOptions = {}): DedupeStore {
  validateOptions("createMemoryDedupe", options, RULES);
  const { ttlMs = 86_400_000, maxEntries = 100_000, maxBytes = 33_554_432 } = options;
  const running = new Map<string, RunningClaim>();
  const values = new TextColumn(HASH_BYTES);
  const handled = new FairMap<string>({
    ttlMs,
    maxEntries,
    maxBytes,
    values,
    onEvict: () => warnOnce("DEDUPE_EVICTED", EVICTED, store),
  });

  const store: MemoryDedupe = {
    claim({ accountSid, uuid, owner, contentHash, leaseMs }) {
      const handledHash = handled.get(accountSid, uuid);
      if (handledHash !== undefined) return handledHash === contentHash ? "done" : "conflict";
      const nowMs = performance.now();
      const key = `${accountSid} ${uuid}`;
      const current = running.get(key);
      if (current !== undefined && current.owner !== owner && current.lapsesAtMs > nowMs) {
        return "running";
      }
      running.set(key, { owner, contentHash, lapsesAtMs: nowMs + leaseMs });
      return "new";
    },
    complete(claimed) {
      const claim = takeClaim(claimed);
      if (claim === undefined) return;
      const { contentHash } = claim;
      const bytes = values.countBytes(contentHash);
      handled.add(claimed.accountSid, claimed.uuid, contentHash, { bytes });
    },
    release: (claimed) => void takeClaim(claimed),
  };
  memoryStores.add(store);
  return store;

  function takeClaim({ accountSid, uuid, owner }: DedupeKey): RunningClaim | undefined {
    const key = `${accountSid} ${uuid}`;
    const claim = running.get(key);
    if (claim?.owner !== owner) return undefined;
    running.delete(key);
    return claim;
  }
}

const EVICTED =
  "createMemoryDedupe evicted a uuid before its ttlMs: a replay of it would be handled again. Raise maxEntries or maxBytes, or pass a DedupeStore of a database.";
