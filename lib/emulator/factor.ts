/** A user's device. Its fields beyond those of events are not specified (section 2.5). */
export interface Factor {
  sid: string;
  entity_identity: string;
  factor_type: string;
  friendly_name: string;
  metadata?: Record<string, string> | undefined;
  status: "unverified" | "verified";
  date_created: string;
  date_updated: string;
}

/** A factor to create. */
export interface NewFactor {
  /** The identifier that the app gave the user. @default "user-7f3a-22" */
  entity_identity?: string | undefined;
  /** @default "push" */
  factor_type?: string | undefined;
  /** @default "Zoë's phone" */
  friendly_name?: string | undefined;
  /** Custom metadata of the device, up to 1024 characters as JSON. @default none */
  metadata?: Readonly<Record<string, string>> | undefined;
}
