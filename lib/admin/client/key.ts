/**
 * Key of the account (specification, section 2.1). A field that the service did not send is null; one
 * that is not listed is kept, without a type.
 */
export interface Key {
  /** SK and 32 hexadecimal digits. */
  readonly sid: string;
  /** Up to 64 characters, chosen by the user; may be personal data. */
  readonly friendly_name: string | null;
  /** RFC 2822, GMT, whole seconds: `new Date(key.date_created)` reads it. */
  readonly date_created: string | null;
  /** RFC 2822, GMT, whole seconds. */
  readonly date_updated: string | null;
}

/** Key in the response to its creation, the only one with the secret (section 2.1). */
export interface CreatedKey extends Key {
  /** Password for the username `sid`. Store it: the service does not show it again. */
  readonly secret: string;
}

/** Parameters to create or update a Key (section 4.1). */
export interface KeyInput {
  /** Up to 64 characters. */
  readonly friendly_name?: string | undefined;
}
