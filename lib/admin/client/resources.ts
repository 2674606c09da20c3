import type { CreatedKey, Key, KeyInput } from "./key";
import type { List, PageQuery } from "./list";
import type { FetchOptions, RequestOptions } from "./options";
import type { Ensured, Finding, Receiver, Webhook, WebhookChange, WebhookInput } from "./webhook";

/**
 * Keys of the account (section 4.1). Requires the credentials of the account or of a Main key: with
 * a Standard key, each method rejects with ApiError `MAIN_KEY_REQUIRED`.
 *
 * @throws (from the methods) ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known;
 *   InputError for a malformed SID and for a name over 64 characters.
 */
export interface Keys extends List<Key> {
  /** Fetches a Key, without its secret. */
  fetch(sid: string, options?: RequestOptions): Promise<Key>;
  /**
   * Creates a Standard key; no other response has its secret. It is sent to the path of the
   * list: the specification shows none.
   */
  create(input?: KeyInput, options?: RequestOptions): Promise<CreatedKey>;
  /** Renames a Key. */
  update(sid: string, input: KeyInput, options?: RequestOptions): Promise<Key>;
  /**
   * Deletes a Key.
   *
   * @throws ApiError `OWN_KEY`, status 409, for the Key that the client authenticates with, unless
   *   `force` is true.
   */
  delete(sid: string, options?: RequestOptions & { force?: boolean | undefined }): Promise<void>;
}

/**
 * Webhooks of the verification service (section 4.2).
 *
 * @throws (from the methods) ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known;
 *   InputError for a malformed SID and for a parameter that section 4.2 does not allow.
 */
export interface Webhooks extends List<Webhook> {
  /** Fetches a Webhook. */
  fetch(sid: string, options?: RequestOptions): Promise<Webhook>;
  /**
   * Creates a Webhook. A second one for the same URL sends each event twice:
   * {@link Webhooks.ensure} creates none.
   */
  create(input: WebhookInput, options?: RequestOptions): Promise<Webhook>;
  /** Changes the given parameters, and keeps the others. */
  update(sid: string, input: WebhookChange, options?: RequestOptions): Promise<Webhook>;
  /** Deletes a Webhook: the service sends it no further events. */
  delete(sid: string, options?: RequestOptions): Promise<void>;
  /**
   * Creates the Webhook of `webhook_url`, or changes the fields that differ; idempotent. Concurrent
   * deployments end with one Webhook.
   */
  ensure(input: WebhookInput, options?: RequestOptions): Promise<Ensured>;
  /** Lists the configuration drift between the Webhooks and a receiver. */
  check(receiver: Receiver, options?: RequestOptions): Promise<Finding[]>;
}

/**
 * Challenge of a user, as the verification API shows it. A field that the service did not send is null;
 * one that is not listed is kept, without a type. Times are in ISO 8601.
 */
export interface FetchedChallenge {
  /** YC and 32 hexadecimal digits. */
  readonly sid: string;
  readonly account_sid: string | null;
  readonly service_sid: string | null;
  /** The user: `entity_identity` of its events. */
  readonly identity: string | null;
  readonly factor_sid: string | null;
  /** `pending`, `expired`, `approved` or `denied`. */
  readonly status: string | null;
  readonly date_created: string | null;
  readonly date_updated: string | null;
  /** When the user approved or denied it. */
  readonly date_responded: string | null;
  readonly expiration_date: string | null;
}

/** Factor of a user, as a {@link FetchedChallenge} is shown. */
export interface FetchedFactor {
  /** YF and 32 hexadecimal digits. */
  readonly sid: string;
  readonly account_sid: string | null;
  readonly service_sid: string | null;
  /** The user: `entity_identity` of its events. */
  readonly identity: string | null;
  /** `unverified` or `verified`. */
  readonly status: string | null;
  readonly date_created: string | null;
  readonly date_updated: string | null;
}

/** Identifies a challenge. */
export interface ChallengeKey {
  /** The user: `entity_identity` of its events. */
  readonly entityIdentity: string;
  readonly challengeSid: string;
}

/** Challenges of the verification service. A Standard key may read them. */
export interface Challenges {
  /**
   * Fetches a challenge. Its errors do not show the user.
   *
   * @throws ApiError, `SERVICE_ERROR` with status 404 for a challenge that this user does not have;
   *   InputError for a malformed `challengeSid` or `entityIdentity`.
   */
  fetch(key: ChallengeKey, options?: FetchOptions): Promise<FetchedChallenge>;
}

/** Identifies a factor. */
export interface FactorKey {
  /** The user: `entity_identity` of its events. */
  readonly entityIdentity: string;
  readonly factorSid: string;
}

/**
 * Factors of the verification service. A Standard key may read them. Their errors do not show the user.
 *
 * @throws (from the methods) ApiError, `SERVICE_ERROR` with status 404 for a factor or a user that the
 *   service does not have; InputError for a malformed argument.
 */
export interface Factors {
  /** Fetches a factor. */
  fetch(key: FactorKey, options?: FetchOptions): Promise<FetchedFactor>;
  /** Iterates over all factors of a user. */
  list(
    user: Pick<FactorKey, "entityIdentity">,
    query?: PageQuery,
  ): AsyncGenerator<FetchedFactor, void, undefined>;
  /**
   * Lists where the factors that an app knows of a user, from the events, differ from what the
   * service has: a webhook request may never arrive. A user without factors is no error.
   */
  compare(
    input: Pick<FactorKey, "entityIdentity"> & { readonly known: readonly KnownFactor[] },
    options?: RequestOptions,
  ): Promise<FactorDifference[]>;
}

/** A factor that an app knows. */
export interface KnownFactor {
  readonly factorSid: string;
  readonly status: "verified" | "unverified";
}

/** A factor of which the app knows another state than the service. */
export interface FactorDifference {
  /** The event that says what is true: the factor is verified, exists unverified, or does not exist. */
  readonly type: "factor.verified" | "factor.created" | "factor.deleted";
  readonly factorSid: string;
  /** The factor at the service; undefined for one that does not exist. */
  readonly factor: FetchedFactor | undefined;
}
