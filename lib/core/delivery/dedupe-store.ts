/**
 * The result of a claim. `"new"`: the owner of the claim now owns the uuid and must complete or
 * release it. `"running"`: another owner owns it. `"done"`: it was handled. `"conflict"`: a webhook
 * request with this uuid and other content was handled; a store may return `"done"` instead.
 */
export type Claim = "new" | "running" | "done" | "conflict";

/** Identifies one delivery of a webhook request to a {@link DedupeStore}. */
export interface DedupeKey {
  /**
   * The account of the event; the same uuid in another account is another key. With a static
   * `authToken` and without `allowedAccountSids`, it is only a claim of the signer.
   */
  accountSid: string;
  /** 1 to 256 characters, unique within the account. */
  uuid: string;
  /** Identifies the delivery; equal when an attempt to claim is repeated. */
  owner: string;
}

/** The argument of {@link DedupeStore.claim}. */
export interface DedupeClaim extends DedupeKey {
  /**
   * 32 hexadecimal digits, equal for deliveries of equal content that one auth token signed. While a token rotates, a claim
   * that found `"conflict"` is repeated with the hash that belongs to each other token.
   */
  contentHash: string;
  /** How long the claim lasts unless it is completed or released, in milliseconds. */
  leaseMs: number;
}

/**
 * Stores which webhook requests were handled. To drop duplicates across processes, implement it on
 * a shared database, and check it with `testDedupeStore` of `express-push-verification/testing`.
 *
 * Each method must be atomic, and may be synchronous. A method that throws or rejects is retried
 * for up to 8 s; after that the receiver responds 503. The app opens the store before it creates
 * the receiver, and closes it after `push.close()`.
 */
export interface DedupeStore {
  /**
   * Claims a uuid unless another owner owns it or it was handled.
   *
   * A repeated claim of the same owner returns `"new"` again, because the first response may have
   * been lost. A claim that is older than its `leaseMs` has lapsed: another owner may claim it.
   */
  claim(claim: DedupeClaim): Claim | Promise<Claim>;
  /**
   * Marks a uuid as handled; does nothing when this owner does not own it. Keep the mark for at
   * least 24 h: a request that is replayed later is handled again.
   */
  complete(key: DedupeKey): void | Promise<void>;
  /** Releases a uuid if this owner owns it, so that the next delivery runs the handlers. */
  release(key: DedupeKey): void | Promise<void>;
}
