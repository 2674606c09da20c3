import { isPromise } from "node:util/types";
import { hashText } from "../../kit/hash";
import type { Claim, DedupeClaim, DedupeStore } from "./dedupe-store";
import { createNeutralCause } from "../../kit/neutral-cause";
import { isMemoryDedupe, type MemoryDedupe } from "./memory-dedupe";
import type { WebhookError } from "../errors/webhook-error";
import type { DeliveryResult } from "../event/event";
import { andThen, isPending } from "../../kit/pending";
import { createRequestRetry } from "./retry-request";
import type { StoreOutage } from "../../kit/health";

/** The decision about a delivery. */
export interface Acceptance {
  result: DeliveryResult;
  /**
   * Settles as the run of the handlers does, which concurrent duplicates share; undefined when
   * nothing runs any more.
   */
  finished: Promise<void> | void;
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
interface FirstDelivery {
  /** Decides whether the event is accepted; throws if not. The uuid is then released. */
  confirm?: (() => Promise<void>) | undefined;
  /** Returns undefined when it has succeeded at once, and never throws. */
  run: () => Promise<void> | void;
  /** When to give up the claim and the confirmation, as `performance.now()` counts. */
  deadlineAtMs: number;
  /** When `run` and its completion mark must be finished. */
  finishAtMs: number;
}

/** Decides about deliveries; {@link Deduplication} runs handlers once per account and uuid. */
export interface Acceptor {
  /** Runs a first delivery unless one ran, or runs, for the same webhook request. */
  accept(request: RequestIdentity, first: FirstDelivery): Acceptance | Promise<Acceptance>;
  readonly outage: StoreOutage | undefined;
}

type RequestRetry = ReturnType<typeof createRequestRetry>;

interface RunningDelivery {
  contentHash: string;
  accepted: Acceptance | Promise<Acceptance>;
}

/** Begins each owner. Not at once: Cloudflare Workers forbid random values while a module loads. */
let processOwner: string | undefined;
let claimCount = 0;

/** How long a claim lasts at least: a process that dies cannot release it. */
const MIN_LEASE_MS = 60_000;
/** How much longer a claim lasts than the completion mark may take: clocks of stores differ. */
const LEASE_MARGIN_MS = 10_000;

/**
 * Runs handlers once per account and uuid: across concurrent deliveries in this process by itself,
 * across time and processes through the store. What the memory of this process decides has no
 * promise.
 */
export class Deduplication implements Acceptor {
  readonly #store: DedupeStore;
  /** The store, if it is in memory: it decides at once and cannot fail. */
  readonly #memory: MemoryDedupe | undefined;
  readonly #onStoreFailure: (error: WebhookError) => void;
  readonly #retryClaim: RequestRetry;
  // Without a limit on concurrency: a crowd of new requests must not keep marks from the store.
  readonly #retryMark: RequestRetry;
  /** By account and uuid. */
  readonly #running = new Map<string, RunningDelivery>();
  /** A claim that fails begins an outage, one that succeeds ends it. */
  #outage: StoreOutage | undefined;

  /**
   * @param onStoreFailure called when a handled or failed uuid could not be marked.
   * @param retryForMs how long a method of the store is retried.
   */
  constructor(
    store: DedupeStore,
    onStoreFailure: (error: WebhookError) => void,
    retryForMs = 8_000,
  ) {
    this.#store = store;
    this.#memory = isMemoryDedupe(store) ? store : undefined;
    this.#onStoreFailure = onStoreFailure;
    this.#retryClaim = createRequestRetry({ retryForMs });
    this.#retryMark = createRequestRetry({ retryForMs, maxRetrying: Number.POSITIVE_INFINITY });
  }

  get outage(): StoreOutage | undefined {
    return this.#outage;
  }

  accept(request: RequestIdentity, first: FirstDelivery): Acceptance | Promise<Acceptance> {
    const { accountSid, uuid, contentHash } = request;
    const key = `${accountSid} ${uuid}`;
    const current = this.#running.get(key);
    if (current !== undefined) return this.#join(current, request, first);
    const accepted = this.#claimThenRun(key, request, first);
    if (isPromise(accepted)) accepted.catch(() => this.#running.delete(key));
    // Not too late: other deliveries begin in later turns, and what is not pending is over.
    if (isPromise(accepted) || accepted.finished !== undefined) {
      this.#running.set(key, { contentHash, accepted });
    }
    return accepted;
  }

  async #join(
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
      return this.accept(request, first);
    }
  }

  #claimThenRun(key: string, request: RequestIdentity, first: FirstDelivery) {
    const claim = this.#createClaim(request, first);
    return andThen(this.#claimContent(claim, request, first), (found) => {
      if (found !== "new") {
        this.#running.delete(key);
        return drop(found);
      }
      return andThen(this.#confirm(claim, first), () => {
        const finished = this.#runThenMark(key, claim, first);
        return { result: found, finished };
      });
    });
  }

  #createClaim(request: RequestIdentity, { finishAtMs }: FirstDelivery): DedupeClaim {
    const { accountSid, uuid } = request;
    processOwner ??= crypto.randomUUID();
    const owner = `${processOwner} ${++claimCount}`;
    const runMs = Number.isFinite(finishAtMs) ? finishAtMs - performance.now() : 0;
    const leaseMs = Math.max(MIN_LEASE_MS, Math.ceil(runMs) + LEASE_MARGIN_MS);
    return {
      accountSid,
      uuid,
      contentHash: this.#hashContent(request.contentHash),
      owner,
      leaseMs,
    };
  }

  /** A store outside this process need not see signatures, and half of the hash is enough. */
  #hashContent(signature: string): string {
    return this.#memory === undefined ? hashText(signature).slice(0, 32) : signature;
  }

  #claimContent(claim: DedupeClaim, request: RequestIdentity, { deadlineAtMs }: FirstDelivery) {
    const found = this.#claim(claim, deadlineAtMs);
    const { listOtherHashes } = request;
    if (listOtherHashes === undefined) return found;
    return andThen(found, (first) =>
      first === "conflict" ? this.#claimOthers(claim, listOtherHashes(), deadlineAtMs) : first,
    );
  }

  /** While a token rotates, the first delivery may be signed with another one. */
  async #claimOthers(claim: DedupeClaim, hashes: readonly string[], deadlineAtMs: number) {
    for (const hash of hashes) {
      const contentHash = this.#hashContent(hash);
      const found = await this.#claim({ ...claim, contentHash }, deadlineAtMs);
      if (found !== "conflict") return found;
    }
    return "conflict";
  }

  #claim(claim: DedupeClaim, deadlineAtMs: number): Claim | Promise<Claim> {
    const decided = this.#memory?.claim(claim) ?? "running";
    // In memory, another receiver that shares the store runs it.
    return decided === "running" ? this.#retryUntilDecided(claim, deadlineAtMs) : decided;
  }

  async #retryUntilDecided(claim: DedupeClaim, deadlineAtMs: number): Promise<Claim> {
    let attempt: Claim | Promise<Claim> | undefined;
    const claimOnce = () => {
      const found = this.#store.claim(claim);
      attempt = isPending(found) ? Promise.resolve(found).then(decide) : decide(found);
      return attempt;
    };
    try {
      const found = await this.#retryClaim(claimOnce, deadlineAtMs, this.#noteFailure);
      this.#outage = undefined;
      return found;
    } catch (error) {
      // The store may have kept the claim: release it now, and again after a late response.
      const release = async () => this.#store.release(claim);
      release().catch(() => "the claim lapses");
      Promise.resolve(attempt)
        .then(release, release)
        .catch(() => "the claim lapses");
      throw error;
    }
  }

  readonly #noteFailure = (error: unknown): void => {
    if (error instanceof ClaimedElsewhere) return;
    this.#outage ??= { error: createNeutralCause(error), since: new Date() };
  };

  #confirm(claim: DedupeClaim, { confirm, deadlineAtMs }: FirstDelivery) {
    return confirm?.().catch(async (error: unknown) => {
      // A forged event must not keep the event that really has this uuid from being handled.
      await this.#mark(claim, "release", deadlineAtMs);
      throw error;
    });
  }

  #runThenMark(key: string, claim: DedupeClaim, { run, finishAtMs }: FirstDelivery) {
    const running = run();
    if (running === undefined) return this.#finish(key, claim, "complete", finishAtMs);
    const finished = running.then(
      () => this.#finish(key, claim, "complete", finishAtMs),
      async (error: unknown) => {
        await this.#finish(key, claim, "release", finishAtMs);
        throw error;
      },
    );
    // The receiver awaits the promise, unless a step before that fails.
    finished.catch(() => {});
    return finished;
  }

  #finish(key: string, claim: DedupeClaim, mark: Mark, finishAtMs: number) {
    return andThen(this.#mark(claim, mark, finishAtMs), () => {
      this.#running.delete(key);
    });
  }

  #mark(claim: DedupeClaim, mark: Mark, deadlineAtMs: number) {
    return this.#memory === undefined
      ? this.#markInStore(claim, mark, deadlineAtMs)
      : this.#memory[mark](claim);
  }

  async #markInStore(claim: DedupeClaim, mark: Mark, deadlineAtMs: number) {
    try {
      await this.#retryMark(() => this.#store[mark](claim), deadlineAtMs);
    } catch (error) {
      this.#onStoreFailure(error as WebhookError);
      // The response does not wait longer, but a later mark prevents a second run of the handlers.
      this.#retryMark(() => this.#store[mark](claim)).catch(
        () => "onStoreFailure was called above",
      );
    }
  }
}

type Mark = "complete" | "release";

function drop(found: Claim): Acceptance {
  return { result: found === "conflict" ? found : "duplicate", finished: undefined };
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
export const NO_DEDUPLICATION: Acceptor = {
  accept: (_request, { confirm, run }) =>
    andThen(confirm?.(), () => ({ result: "new" as const, finished: run() })),
  outage: undefined,
};
