/** A key as it is fetched: exactly the four fields of the specification (section 2.1). */
export interface KeyResource {
  sid: string;
  friendly_name: string;
  date_created: string;
  date_updated: string;
}

/** A key with the fields that are shown only once, or never. */
export interface Key {
  sid: string;
  secret: string;
  friendly_name: string;
  /** A Main key manages keys, as the account's own credentials do (specification, section 1). */
  type: "standard" | "main";
  createdSeconds: number;
  updatedSeconds: number;
}

/** A key to create. */
export interface NewKey {
  /** SK and 32 hexadecimal digits. @default random */
  sid?: string | undefined;
  /** @default random */
  secret?: string | undefined;
  /** Up to 64 characters. @default "" */
  friendly_name?: string | undefined;
  /** A `"main"` key manages keys, as the account's own credentials do. @default "standard" */
  type?: "standard" | "main" | undefined;
}
