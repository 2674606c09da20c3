/** Key as responses show it: the four fields of the specification (section 2.1). */
export interface KeyResource {
  sid: string;
  friendly_name: string;
  date_created: string;
  date_updated: string;
}

/** Fields of a key to create. */
export interface NewKey {
  /** SK and 32 hexadecimal digits. @default random */
  sid?: string | undefined;
  /** @default random */
  secret?: string | undefined;
  /** Up to 64 characters. @default "" */
  friendly_name?: string | undefined;
  /** A `"main"` key may manage keys, as the account may. @default "standard" */
  type?: "standard" | "main" | undefined;
}
