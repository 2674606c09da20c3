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
