import type { Claim, DedupeClaim, DedupeStore } from "./dedupe-store";
import type { WebhookError } from "../errors/webhook-error";
import type { DeliveryResult } from "../observability/diagnostics";
import { createRetry, type Retry } from "./retry";

/** One delivery whose result is decided. */
export interface Delivery {
  result: DeliveryResult;
  /** Settles as the run of the handlers does; the same promise for every concurrent duplicate. */
  finished: Promise<void>;
}

/** Identifies a webhook request. @experimental */
export interface RequestIdentity extends Pick<DedupeClaim, "accountSid" | "uuid" | "contentHash"> {
  /**
   * Returns what `contentHash` is with each other auth token of the account: while a token rotates,
   * a redelivery may be signed with the other one. Undefined when there is one token.
   */
  listOtherHashes?: (() => readonly string[]) | undefined;
}

/** Runs `run` unless it ran, or runs, for the same request; resolves when that is decided. */
export type DeliverOnce = (
  request: RequestIdentity,
  run: () => Promise<void>,
  /** When to give up the claim, as `performance.now()` counts. */
  deadlineAtMs: number,
  /** When `run` and its completion mark must be finished. @default deadlineAtMs */
  finishAtMs?: number,
) => Promise<Delivery>;

/** Begins the owner of each claim of this process: a counter makes the rest unique. */
const PROCESS_OWNER = crypto.randomUUID();
let claimCount = 0;

/** How long a claim lasts, unless `run` may take longer: a process that dies cannot release it. */
const MIN_LEASE_MS = 60_000;
/** How much longer a claim lasts than the completion mark may take: clocks of stores differ. */
const LEASE_MARGIN_MS = 10_000;

/**
 * Creates the step that runs handlers once per account and uuid: across concurrent deliveries in
 * this process by itself, across time and processes through the store.
 *
 * @param retryClaim for claims. Completion marks have a retry of their own, without a limit on
 *   concurrency, so that a crowd of new requests cannot keep them from the store.
 * @param onStoreFailure called when a handled or failed uuid could not be marked.
 */
export function createDeliverOnce(
  store: DedupeStore,
  retryClaim: Retry,
  onStoreFailure: (error: WebhookError) => void,
  retryMark: Retry = createRetry({ maxRetrying: Number.POSITIVE_INFINITY }),
): DeliverOnce {
  const inFlight = new Map<string, { contentHash: string; delivery: Promise<Delivery> }>();

  async function claimUuid(claim: DedupeClaim, deadlineAtMs: number): Promise<DecidedClaim> {
    const state = { isPending: false, isAbandoned: false };
    const settle = async (found: Promise<Claim>) => {
      try {
        const decided = await found;
        // The request is over: a claim that succeeds now would block the next delivery.
        if (state.isAbandoned && decided === "new") await store.release(claim);
        return decide(decided);
      } finally {
        state.isPending = false;
      }
    };
    try {
      return await retryClaim(() => {
        const found = store.claim(claim);
        if (typeof found === "string") return decide(found);
        state.isPending = true;
        return settle(Promise.resolve(found));
      }, deadlineAtMs);
    } catch (error) {
      state.isAbandoned = true;
      // The store may have kept the claim although its response never arrives.
      if (state.isPending) retryMark(() => store.release(claim)).catch(() => "the claim lapses");
      throw error;
    }
  }

  async function runThenMark(
    key: string,
    claim: DedupeClaim,
    run: () => Promise<void>,
    finishAtMs: number,
  ): Promise<void> {
    let mark: "complete" | "release" = "release";
    try {
      await run();
      mark = "complete";
    } finally {
      await markUuid(claim, mark, finishAtMs);
      inFlight.delete(key);
    }
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

  async function claimThenRun(
    key: string,
    request: RequestIdentity,
    run: () => Promise<void>,
    deadlineAtMs: number,
    finishAtMs: number,
  ): Promise<Delivery> {
    const { accountSid, uuid, contentHash } = request;
    const owner = `${PROCESS_OWNER} ${++claimCount}`;
    const runMs = Number.isFinite(finishAtMs) ? finishAtMs - performance.now() : 0;
    const leaseMs = Math.max(MIN_LEASE_MS, Math.ceil(runMs) + LEASE_MARGIN_MS);
    const claim = { accountSid, uuid, contentHash, owner, leaseMs };
    let found: DecidedClaim | undefined;
    try {
      found = await claimUuid(claim, deadlineAtMs);
      // While a token rotates, the first delivery may be signed with another one.
      const otherHashes = found === "conflict" ? (request.listOtherHashes?.() ?? []) : [];
      for (const otherHash of otherHashes) {
        if (found !== "conflict") break;
        found = await claimUuid({ ...claim, contentHash: otherHash }, deadlineAtMs);
      }
    } finally {
      if (found !== "new") inFlight.delete(key);
    }
    if (found !== "new") {
      return { result: found === "conflict" ? found : "duplicate", finished: Promise.resolve() };
    }
    const finished = runThenMark(key, claim, run, finishAtMs);
    // The receiver awaits the promise, unless a step before that fails.
    finished.catch(() => {});
    return { result: found, finished };
  }

  return function deliverOnce(request, run, deadlineAtMs, finishAtMs = deadlineAtMs) {
    const { accountSid, uuid, contentHash } = request;
    const key = `${accountSid} ${uuid}`;
    const current = inFlight.get(key);
    if (current !== undefined) {
      const isEqual =
        current.contentHash === contentHash ||
        request.listOtherHashes?.().includes(current.contentHash) === true;
      const result = isEqual ? "duplicate" : "conflict";
      return current.delivery.then(({ finished }) => ({ result, finished }));
    }
    const delivery = claimThenRun(key, request, run, deadlineAtMs, finishAtMs);
    inFlight.set(key, { contentHash, delivery });
    return delivery;
  };
}

type DecidedClaim = Exclude<Claim, "running">;

function decide(found: Claim): DecidedClaim {
  if (found === "running") throw new Error("another process has claimed this uuid");
  // No other value may count as "new": the handlers would run twice.
  if (!["new", "done", "conflict"].includes(found)) {
    throw new TypeError(
      'claim of the dedupe store must return "new", "running", "done" or "conflict"',
    );
  }
  return found;
}

/** Runs `run` for each delivery, without a store: for `dedupe: false`. */
export const deliverEach: DeliverOnce = (_request, run) =>
  Promise.resolve({ result: "new", finished: run() });
