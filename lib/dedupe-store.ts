/**
 * What a claim finds. `"new"`: the caller owns the uuid now and must complete or release it.
 * `"running"`: another owner has it. `"done"`: it was handled. `"conflict"`: a webhook request of
 * this uuid with other content was handled; a store need not tell this from `"done"`.
 */
export type Claim = "new" | "running" | "done" | "conflict";

/** Identifies one delivery of a webhook request to a {@link DedupeStore}. */
export interface DedupeKey {
  /** The authenticated account: uuids of other accounts are other keys. */
  accountSid: string;
  /** 1 to 256 characters, unique within the account. */
  uuid: string;
  /** Identifies the delivery that claims; equal when an attempt to claim is repeated. */
  owner: string;
}

/** What {@link DedupeStore.claim} receives. */
export interface DedupeClaim extends DedupeKey {
  /** Equal for deliveries of equal content. */
  contentHash: string;
  /** After how long the claim lapses unless it is completed or released, in milliseconds. */
  leaseMs: number;
}

/**
 * Stores which webhook requests were handled. Share one between processes by implementing it on a
 * database that they share; `testDedupeStore` of `express-push-verification/testing` checks it.
 *
 * Each method must be atomic, and may be synchronous. A method that throws or rejects is retried
 * for up to 8 s; after that the request gets 503.
 */
export interface DedupeStore {
  /**
   * Claims a uuid unless another owner holds it or it was handled.
   *
   * A claim of the owner that holds it already returns `"new"` again: the first response may have
   * been lost. A claim that is older than its `leaseMs` has lapsed and belongs to the next owner.
   */
  claim(claim: DedupeClaim): Claim | Promise<Claim>;
  /**
   * Marks a uuid that this owner holds as handled; does nothing when another owner holds it. Keep
   * the mark for at least 24 h: that is the replay window.
   */
  complete(key: DedupeKey): void | Promise<void>;
  /** Releases a uuid that this owner holds, so that the next delivery runs the handlers. */
  release(key: DedupeKey): void | Promise<void>;
  /**
   * Prepares the store: connects, creates its table. The first receiver that uses the store calls
   * it when it is created; webhook requests wait for it within their deadline. When it fails,
   * `onError` receives `STORE_UNAVAILABLE` and the next attempt to claim calls it again.
   */
  init?(): void | Promise<void>;
  /**
   * Releases the connections of the store. `push.close()` of the last receiver that uses the store
   * calls it when the requests are finished, and waits for it for up to 5 s.
   */
  close?(): void | Promise<void>;
}
