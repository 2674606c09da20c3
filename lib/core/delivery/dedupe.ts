import { hashText } from "../../kit/hash";
import type { Claim, DedupeClaim, DedupeStore } from "./dedupe-store";
import { createNeutralCause } from "../../kit/neutral-cause";
import { isMemoryDedupe } from "./memory-dedupe";
import type { WebhookError } from "../errors/webhook-error";
import type { DeliveryResult } from "../event/event";
import { isPending } from "../../kit/retry";
import { createRequestRetry } from "./retry-request";
import type { StoreOutage } from "../observability/health";

/** The decision about a delivery. */
export interface Acceptance {
  result: DeliveryResult;
  /** Settles as the run of the handlers does; the same promise for every concurrent duplicate. */
  finished: Promise<void>;
}

/** Identifies a webhook request. @experimental */
export interface RequestIdentity extends Pick<DedupeClaim, "accountSid" | "uuid" | "contentHash"> {
  /**
   * Returns the `contentHash` for each other auth token of the account: while a token rotates,
   * a redelivery may be signed with the other one. Undefined when there is one token.
   */
  listOtherHashes?: (() => readonly string[]) | undefined;
}

/** The work of the first delivery of a webhook request. */
export interface FirstDelivery {
  /** Decides whether the event is accepted; throws if not. The uuid is then released. */
  confirm?: (() => Promise<void>) | undefined;
  run: () => Promise<void>;
  /** When to give up the claim and the confirmation, as `performance.now()` counts. */
  deadlineAtMs: number;
  /** When `run` and its completion mark must be finished. */
  finishAtMs: number;
}

/** A delivery that is not decided yet, or whose handlers run. */
interface RunningDelivery {
  contentHash: string;
  accepted: Promise<Acceptance>;
}

/** Runs a first delivery unless one ran, or runs, for the same webhook request. */
export type AcceptOnce = (request: RequestIdentity, first: FirstDelivery) => Promise<Acceptance>;

/** The deduplication of a receiver. */
export interface Deduplication {
  acceptOnce: AcceptOnce;
  /** Returns the outage of the store; undefined when there is none. */
  findOutage: () => StoreOutage | undefined;
}

/**
 * Begins the owner of each claim of this process: a counter makes the rest unique. Made by the
 * first claim, because Cloudflare Workers forbid random values while a module loads.
 */
let processOwner: string | undefined;
let claimCount = 0;

/** How long a claim lasts, unless `run` may take longer: a process that dies cannot release it. */
const MIN_LEASE_MS = 60_000;
/** How much longer a claim lasts than the completion mark may take: clocks of stores differ. */
const LEASE_MARGIN_MS = 10_000;

/**
 * Creates the deduplication that runs handlers once per account and uuid: across concurrent
 * deliveries in this process by itself, across time and processes through the store.
 *
 * @param onStoreFailure called when a handled or failed uuid could not be marked.
 * @param retryForMs how long a method of the store is retried.
 */
export function createDeduplication(
  store: DedupeStore,
  onStoreFailure: (error: WebhookError) => void,
  retryForMs = 8_000,
): Deduplication {
  /** A claim that fails begins an outage, one that succeeds ends it. */
  let outage: StoreOutage | undefined;
  const memory = isMemoryDedupe(store) ? store : undefined;
  // A store outside this process need not see signatures, and half of the hash is enough.
  const hashContent = (signature: string) =>
    memory === undefined ? hashText(signature).slice(0, 32) : signature;
  const inFlight = new Map<string, RunningDelivery>();
  const retryClaim = createRequestRetry({ retryForMs });
  // Without a limit on concurrency, so that a crowd of new requests cannot keep marks from the store.
  const retryMark = createRequestRetry({ retryForMs, maxRetrying: Number.POSITIVE_INFINITY });

  function noteFailure(error: unknown): void {
    if (error instanceof ClaimedElsewhere) return;
    outage ??= { error: createNeutralCause(error), since: new Date() };
  }

  async function claimUuid(claim: DedupeClaim, deadlineAtMs: number): Promise<Claim> {
    const decided = memory?.claim(claim) ?? "running";
    // In memory, another receiver that shares the store runs it.
    if (decided !== "running") return decided;
    let attempt: Claim | Promise<Claim> | undefined;
    const claimOnce = () => {
      const found = store.claim(claim);
      attempt = isPending(found) ? Promise.resolve(found).then(decide) : decide(found);
      return attempt;
    };
    try {
      const found = await retryClaim(claimOnce, deadlineAtMs, noteFailure);
      outage = undefined;
      return found;
    } catch (error) {
      // The store may have kept the claim although its response was lost: release it now, and again
      // once a late response has come.
      const release = async () => store.release(claim);
      release().catch(() => "the claim lapses");
      Promise.resolve(attempt)
        .then(release, release)
        .catch(() => "the claim lapses");
      throw error;
    }
  }

  /** While a token rotates, the first delivery may be signed with another one. */
  async function claimOtherContent(
    request: RequestIdentity,
    claim: DedupeClaim,
    deadlineAtMs: number,
  ): Promise<Claim> {
    for (const otherHash of request.listOtherHashes?.() ?? []) {
      const other = await claimUuid(
        { ...claim, contentHash: hashContent(otherHash) },
        deadlineAtMs,
      );
      if (other !== "conflict") return other;
    }
    return "conflict";
  }

  async function markUuid(claim: DedupeClaim, mark: "complete" | "release", deadlineAtMs: number) {
    try {
      await retryMark(() => store[mark](claim), deadlineAtMs);
    } catch (error) {
      onStoreFailure(error as WebhookError);
      // The response does not wait longer, but a later mark prevents a second run of the handlers.
      retryMark(() => store[mark](claim)).catch(() => "onStoreFailure was called above");
    }
  }

  async function runThenMark(key: string, claim: DedupeClaim, first: FirstDelivery) {
    let mark: "complete" | "release" = "release";
    try {
      await first.run();
      mark = "complete";
    } finally {
      if (memory === undefined) await markUuid(claim, mark, first.finishAtMs);
      else memory[mark](claim);
      inFlight.delete(key);
    }
  }

  async function claimThenRun(
    key: string,
    request: RequestIdentity,
    first: FirstDelivery,
  ): Promise<Acceptance> {
    const { accountSid, uuid } = request;
    const { deadlineAtMs, finishAtMs } = first;
    const contentHash = hashContent(request.contentHash);
    processOwner ??= crypto.randomUUID();
    const owner = `${processOwner} ${++claimCount}`;
    const runMs = Number.isFinite(finishAtMs) ? finishAtMs - performance.now() : 0;
    const leaseMs = Math.max(MIN_LEASE_MS, Math.ceil(runMs) + LEASE_MARGIN_MS);
    const claim = { accountSid, uuid, contentHash, owner, leaseMs };
    let isRunning = false;
    try {
      let found = await claimUuid(claim, deadlineAtMs);
      if (found === "conflict") found = await claimOtherContent(request, claim, deadlineAtMs);
      if (found !== "new") {
        return { result: found === "conflict" ? found : "duplicate", finished: Promise.resolve() };
      }
      try {
        if (first.confirm !== undefined) await first.confirm();
      } catch (error) {
        // A forged event must not keep the event that really has this uuid from being handled.
        await markUuid(claim, "release", deadlineAtMs);
        throw error;
      }
      isRunning = true;
    } finally {
      if (!isRunning) inFlight.delete(key);
    }
    const finished = runThenMark(key, claim, first);
    // The receiver awaits the promise, unless a step before that fails.
    finished.catch(() => {});
    return { result: "new", finished };
  }

  /** Awaits another delivery with this uuid that is running. */
  async function joinDelivery(
    current: RunningDelivery,
    request: RequestIdentity,
    first: FirstDelivery,
  ): Promise<Acceptance> {
    const isEqual =
      current.contentHash === request.contentHash ||
      request.listOtherHashes?.().includes(current.contentHash) === true;
    try {
      const { finished } = await current.accepted;
      return { result: isEqual ? "duplicate" : "conflict", finished };
    } catch (error) {
      if (isEqual) throw error;
      // The other content may be forged, so this delivery is decided on its own.
      return acceptOnce(request, first);
    }
  }

  function acceptOnce(request: RequestIdentity, first: FirstDelivery): Promise<Acceptance> {
    const { accountSid, uuid, contentHash } = request;
    const key = `${accountSid} ${uuid}`;
    const current = inFlight.get(key);
    if (current !== undefined) return joinDelivery(current, request, first);
    const accepted = claimThenRun(key, request, first);
    // Not too late: the claim is awaited, also in memory, before this is removed.
    inFlight.set(key, { contentHash, accepted });
    return accepted;
  }

  return { acceptOnce, findOutage: () => outage };
}

class ClaimedElsewhere extends Error {
  override readonly message = "another process has claimed this uuid";
}

/** Throws for a claim that is not decided, so that it is retried. */
function decide(found: Claim): Claim {
  if (found === "running") throw new ClaimedElsewhere();
  // No other value may count as "new": the handlers would run twice.
  if (!["new", "done", "conflict"].includes(found)) {
    throw new TypeError(
      'claim of the dedupe store must return "new", "running", "done" or "conflict"',
    );
  }
  return found;
}

/** Runs each delivery, without a store: for `dedupe: false`. */
export const NO_DEDUPLICATION: Deduplication = {
  async acceptOnce(_request, { confirm, run }) {
    await confirm?.();
    return { result: "new", finished: run() };
  },
  findOutage: () => undefined,
};
