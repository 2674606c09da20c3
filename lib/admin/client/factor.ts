/**
 * Factor of a user, as the verification API shows it. A field that the service did not send is null;
 * a field that is not listed here is kept, without a type. Times are in ISO 8601.
 */
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

/** Identifies a factor. */
export interface FactorKey {
  /** The user: `entity_identity` of its events. */
  readonly entityIdentity: string;
  readonly factorSid: string;
}
