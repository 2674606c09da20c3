import type { listEventPairs } from "../../core/door";
import type { PushEventOf } from "../../index";

/** The texts of an event, by parameter. */
export type EventFields = Parameters<typeof listEventPairs>[1];

/** What a challenge shows to its user. */
type ChallengeDetails = NonNullable<PushEventOf<"challenge.approved", "v2">["challenge_details"]>;

/** User of the service, known by an identifier that the app chose. */
export interface Entity {
  sid: string;
  identity: string;
  date_created: string;
  date_updated: string;
}

/** Registered device of a user. Fields that events do not have are not specified (section 2.5). */
export interface Factor {
  sid: string;
  entity_sid: string;
  entity_identity: string;
  factor_type: string;
  friendly_name: string;
  /** How the device is reached, or how its one-time passwords are made. */
  config: Readonly<Record<string, unknown>>;
  metadata?: Record<string, string> | undefined;
  status: "unverified" | "verified";
  date_created: string;
  date_updated: string;
}

/** Key of a factor, which only the response to its creation shows. */
export type FactorBinding = { alg: "ES256"; public_key: string } | { secret: string; uri: string };

/** Fields of a factor to create. */
export interface NewFactor {
  /** Identifier of the user, chosen by the app. @default "user-7f3a-22" */
  entity_identity?: string | undefined;
  /** @default "push" */
  factor_type?: string | undefined;
  /** @default "Zoë's phone" */
  friendly_name?: string | undefined;
  /** Custom metadata of the device, up to 1024 characters as JSON. @default none */
  metadata?: Readonly<Record<string, string>> | undefined;
}

/** Request to a user, who approves or denies it on a registered device. */
export interface Challenge {
  sid: string;
  factor_sid: string;
  factor_type: string;
  entity_sid: string;
  entity_identity: string;
  details: ChallengeDetails;
  hidden_details?: Record<string, unknown> | undefined;
  metadata?: Record<string, string> | undefined;
  /** A pending challenge expires at `expiration_date`; the service sends no event of it. */
  status: "pending" | "expired" | "approved" | "denied";
  date_created: string;
  date_updated: string;
  /** When the user approved or denied it. */
  date_responded?: string | undefined;
  expiration_date: string;
}

/** Fields of a challenge to create. */
export interface NewChallenge {
  /** SID of a verified factor. */
  factor_sid: string;
  /**
   * Context that the device shows to the user, up to 16,384 characters as JSON.
   * @default { message: "Do you want to sign in?" }
   */
  details?: ChallengeDetails | undefined;
  /** When it expires, in ISO 8601; at most 60 minutes from now. @default in 5 minutes */
  expiration_date?: string | undefined;
  /** Context that the device does not show, up to 16,384 characters as JSON. @default none */
  hidden_details?: Readonly<Record<string, unknown>> | undefined;
}

/** The decision of a user on a device. */
export type Decision = "approved" | "denied";

/** Data that a device sends when its user approves or denies a challenge. */
export interface ChallengeDecision {
  /** Custom metadata of the device, up to 1024 characters as JSON. @default none */
  metadata?: Readonly<Record<string, string>> | undefined;
}
