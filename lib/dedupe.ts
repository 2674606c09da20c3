import type { WebhookError } from "./errors";
import { createHold, type Hold } from "./hold";
import { checkOptions, wholeNumber, type OptionRules } from "./option-rules";
import { createRecent } from "./recent";

/**
 * What a claim found. `"new"`: this caller has it now and must complete or release it.
 * `"running"`: another caller has it. `"done"`: it was handled already. `"conflict"`: a call of
 * this uuid with other content was; a store need not tell that from `"done"`.
 */
export type Claim = "new" | "running" | "done" | "conflict";

/**
 * Remembers which calls were handled, by uuid. Share one between processes by implementing it on a
 * store that they share.
 *
 * Each method must be atomic, and may be synchronous. One that throws or rejects is retried for
 * 8 s, so the sender sees nothing of a short restart; after that the call is answered 503. A store
 * that outlives its processes must let a claim lapse that is never completed nor released (after a
 * minute, say), or the uuid of a crashed process is refused for ever.
 */
export interface DedupeStore {
  /**
   * Takes a uuid unless somebody has it or has handled it.
   *
   * @param uuid any text of 1 to 256 characters.
   * @param contentHash equal for deliveries of equal content.
   */
  claim(uuid: string, contentHash: string): Claim | Promise<Claim>;
  /** Marks a claimed uuid as handled. Forget it after 24 h or so: that is the replay window. */
  complete(uuid: string): void | Promise<void>;
  /** Gives a claimed uuid back: its handlers failed, the next delivery shall run them. */
  release(uuid: string): void | Promise<void>;
}

/** Limits of {@link createMemoryDedupe}. */
export interface MemoryDedupeOptions {
  /** How long a handled uuid is remembered, in milliseconds. @default 86_400_000 (24 h) */
  ttlMs?: number;
  /** How many handled uuids are remembered; the oldest are forgotten first. @default 100_000 */
  maxEntries?: number;
}

const MEMORY_RULES: OptionRules<MemoryDedupeOptions> = {
  ttlMs: wholeNumber(1, Number.MAX_SAFE_INTEGER, "milliseconds"),
  maxEntries: wholeNumber(1, 2 ** 24, "calls"),
};

/**
 * A {@link DedupeStore} in the memory of this process, bounded in time and count.
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function createMemoryDedupe(options: MemoryDedupeOptions = {}): DedupeStore {
  checkOptions("createMemoryDedupe", options, MEMORY_RULES);
  const { ttlMs = 86_400_000, maxEntries = 100_000 } = options;
  const running = new Map<string, string>();
  const done = createRecent<string>({ ttlMs, maxEntries });

  return {
    claim(uuid, contentHash) {
      if (running.has(uuid)) return "running";
      const handledHash = done.get(uuid);
      if (handledHash !== undefined) return handledHash === contentHash ? "done" : "conflict";
      running.set(uuid, contentHash);
      return "new";
    },
    complete(uuid) {
      done.add(uuid, () => running.get(uuid) ?? "");
      running.delete(uuid);
    },
    release(uuid) {
      running.delete(uuid);
    },
  };
}

/** One call on its way. */
export interface Delivery {
  /**
   * `"duplicate"`: the handlers ran, or run, for another delivery of the same call. `"conflict"`:
   * for another call that has its uuid, so this one is dropped.
   */
  outcome: "new" | "duplicate" | "conflict";
  /** Settles as the handlers do, the same for every concurrent duplicate. */
  done: Promise<void>;
}

/** Runs `run` unless it ran, or runs, for the same uuid; resolves once that is decided. */
export type DeliverOnce = (call: CallIdentity, run: () => Promise<void>) => Promise<Delivery>;

/** What tells calls apart. */
export interface CallIdentity {
  uuid: string;
  /** Equal for deliveries of equal content. */
  contentHash: string;
}

/**
 * Makes the step that runs handlers once per uuid: across concurrent deliveries in this process by
 * itself, across time and processes through the store.
 *
 * @param hold for claims. Marks of what was handled have one of their own, without a bound but for
 *   the number of handlers that run: no crowd of newcomers keeps them from the store.
 * @param onStoreFailure told when a handled or failed uuid could not be marked so.
 */
export function createDeliverOnce(
  store: DedupeStore,
  hold: Hold,
  onStoreFailure: (error: WebhookError) => void,
  holdMark: Hold = createHold({ maxHeld: Number.POSITIVE_INFINITY }),
): DeliverOnce {
  const inFlight = new Map<string, { contentHash: string; delivery: Promise<Delivery> }>();

  async function claim({ uuid, contentHash }: CallIdentity): Promise<DecidedClaim> {
    let abandoned = false;
    const releaseIfAbandoned = async (found: Claim) => {
      // Nobody waits for this claim any more: without this it would block the next delivery.
      if (abandoned && found === "new") await store.release(uuid);
      return decide(found);
    };
    try {
      return await hold(() => {
        const found = store.claim(uuid, contentHash);
        return typeof found === "string"
          ? decide(found)
          : Promise.resolve(found).then(releaseIfAbandoned);
      });
    } catch (error) {
      abandoned = true;
      throw error;
    }
  }

  async function finish(uuid: string, run: () => Promise<void>): Promise<void> {
    let mark: "complete" | "release" = "release";
    try {
      await run();
      mark = "complete";
    } finally {
      await settle(uuid, mark);
      inFlight.delete(uuid);
    }
  }

  async function settle(uuid: string, mark: "complete" | "release"): Promise<void> {
    try {
      await holdMark(() => store[mark](uuid));
    } catch (error) {
      onStoreFailure(error as WebhookError);
    }
  }

  async function start(call: CallIdentity, run: () => Promise<void>): Promise<Delivery> {
    let found: DecidedClaim | undefined;
    try {
      found = await claim(call);
    } finally {
      if (found !== "new") inFlight.delete(call.uuid);
    }
    if (found === "new") {
      const done = finish(call.uuid, run);
      // Whoever waits for it is told; nobody does if what follows a claim fails.
      done.catch(() => {});
      return { outcome: "new", done };
    }
    const outcome = found === "conflict" ? "conflict" : "duplicate";
    return { outcome, done: Promise.resolve() };
  }

  return async function deliverOnce(call, run) {
    const { uuid, contentHash } = call;
    const current = inFlight.get(uuid);
    if (current !== undefined) {
      const isSame = current.contentHash === contentHash;
      const outcome = isSame ? "duplicate" : "conflict";
      return { outcome, done: (await current.delivery).done };
    }
    const delivery = start(call, run);
    inFlight.set(uuid, { contentHash, delivery });
    return delivery;
  };
}

type DecidedClaim = Exclude<Claim, "running">;

function decide(found: Claim): DecidedClaim {
  if (found === "running") throw new Error("another process has claimed this call");
  // What is none of them must not count as "new": the handlers would run twice.
  if (!["new", "done", "conflict"].includes(found)) {
    throw new TypeError('claim of the dedupe store must give "new", "running" or "done".');
  }
  return found;
}

/** The step without any memory, for `dedupe: false`. */
export function deliverEach(_call: CallIdentity, run: () => Promise<void>): Promise<Delivery> {
  return Promise.resolve({ outcome: "new", done: run() });
}
