import type { ChallengeDetails } from "../event";

/** A question to a user, who approves or denies it. */
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

/** A challenge to create. */
export interface NewChallenge {
  /** A verified factor. */
  factor_sid: string;
  /**
   * Context that the user sees, up to 16,384 characters as JSON.
   * @default { message: "Do you want to sign in?" }
   */
  details?: ChallengeDetails | undefined;
  /** Context that the user does not see, up to 16,384 characters as JSON. @default none */
  hidden_details?: Readonly<Record<string, unknown>> | undefined;
}

/** What a device sends with the answer of its user. */
export interface ChallengeAnswer {
  /** Custom metadata of the device, up to 1024 characters as JSON. @default none */
  metadata?: Readonly<Record<string, string>> | undefined;
}
