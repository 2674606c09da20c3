import type { ChallengeDetails } from "../../event/event";

/** Request to a user, who approves or denies it on a registered device. */
export interface Challenge {
  sid: string;
  factor_sid: string;
  entity_identity: string;
  details: ChallengeDetails;
  hidden_details?: Record<string, unknown> | undefined;
  metadata?: Record<string, string> | undefined;
  status: "pending" | "approved" | "denied";
  date_created: string;
  date_updated: string;
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
  /** Context that the device does not show, up to 16,384 characters as JSON. @default none */
  hidden_details?: Readonly<Record<string, unknown>> | undefined;
}

/** Data that a device sends when its user approves or denies a challenge. */
export interface ChallengeDecision {
  /** Custom metadata of the device, up to 1024 characters as JSON. @default none */
  metadata?: Readonly<Record<string, string>> | undefined;
}
