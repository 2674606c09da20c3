import type { Claim, DedupeClaim, DedupeStore } from "./dedupe-store";
import type { WebhookError } from "./errors";
import { createHold, type Hold } from "./hold";

/**
 * What became of a delivery. `"duplicate"`: the handlers ran, or run, for another delivery of the
 * same webhook request. `"conflict"`: for another request of this uuid, so this one is dropped.
 *
 * @experimental
 */
export type DeliveryOutcome = "new" | "duplicate" | "conflict";

/** One delivery whose outcome is decided. */
export interface Delivery {
  outcome: DeliveryOutcome;
  /** Settles as the handlers do, equally for every concurrent duplicate. */
  done: Promise<void>;
}

/**
 * Identifies a webhook request.
 *
 * @experimental
 */
export type RequestIdentity = Pick<DedupeClaim, "accountSid" | "uuid" | "contentHash">;

/** Runs `run` unless it ran, or runs, for the same request; resolves once that is decided. */
export type DeliverOnce = (
  request: RequestIdentity,
  run: () => Promise<void>,
  /** When to give up the claim, as `performance.now()` counts. */
  deadlineAtMs: number,
  /** When `run` and its mark are over at the latest. @default deadlineAtMs */
  finishAtMs?: number,
) => Promise<Delivery>;

/** After which the claim of a process that died lapses, unless `run` may take longer. */
const MIN_LEASE_MS = 60_000;
/** By how much a claim outlasts the latest mark: clocks of stores differ. */
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
  retryClaim: Hold,
  onStoreFailure: (error: WebhookError) => void,
  retryMark: Hold = createHold({ maxHeld: Number.POSITIVE_INFINITY }),
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

  async function finish(
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

  async function markUuid(
    claim: DedupeClaim,
    mark: "complete" | "release",
    deadlineAtMs: number,
  ): Promise<void> {
    try {
      await retryMark(() => store[mark](claim), deadlineAtMs);
    } catch (error) {
      onStoreFailure(error as WebhookError);
      // The response must not wait longer, but a mark still spares the next delivery a second run.
      retryMark(() => store[mark](claim)).catch(() => "onStoreFailure was called above");
    }
  }

  async function start(
    key: string,
    request: RequestIdentity,
    run: () => Promise<void>,
    deadlineAtMs: number,
    finishAtMs: number,
  ): Promise<Delivery> {
    const { accountSid, uuid, contentHash } = request;
    const owner = crypto.randomUUID();
    const claim = { accountSid, uuid, contentHash, owner, leaseMs: leaseUntil(finishAtMs) };
    let found: DecidedClaim | undefined;
    try {
      found = await claimUuid(claim, deadlineAtMs);
    } finally {
      if (found !== "new") inFlight.delete(key);
    }
    if (found === "new") {
      const done = finish(key, claim, run, finishAtMs);
      // Awaited by the receiver, but only if what follows the claim succeeds.
      done.catch(() => {});
      return { outcome: "new", done };
    }
    const outcome = found === "conflict" ? "conflict" : "duplicate";
    return { outcome, done: Promise.resolve() };
  }

  return async function deliverOnce(request, run, deadlineAtMs, finishAtMs = deadlineAtMs) {
    const key = keyOf(request);
    const { contentHash } = request;
    const current = inFlight.get(key);
    if (current !== undefined) {
      const outcome = current.contentHash === contentHash ? "duplicate" : "conflict";
      return { outcome, done: (await current.delivery).done };
    }
    const delivery = start(key, request, run, deadlineAtMs, finishAtMs);
    inFlight.set(key, { contentHash, delivery });
    return delivery;
  };
}

function leaseUntil(finishAtMs: number): number {
  const runMs = Number.isFinite(finishAtMs) ? finishAtMs - performance.now() : 0;
  return Math.max(MIN_LEASE_MS, Math.ceil(runMs) + LEASE_MARGIN_MS);
}

function keyOf({ accountSid, uuid }: RequestIdentity): string {
  return `${accountSid} ${uuid}`;
}

type DecidedClaim = Exclude<Claim, "running">;

function decide(found: Claim): DecidedClaim {
  if (found === "running") throw new Error("another process has claimed this uuid");
  // Any other value must not count as "new": the handlers would run twice.
  if (!["new", "done", "conflict"].includes(found)) {
    throw new TypeError(
      'claim of the dedupe store must return "new", "running", "done" or "conflict"',
    );
  }
  return found;
}

/** The step without a store, for `dedupe: false`. */
export function deliverEach(
  _request: RequestIdentity,
  run: () => Promise<void>,
): Promise<Delivery> {
  return Promise.resolve({ outcome: "new", done: run() });
}
