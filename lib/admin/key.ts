/**
 * A Key as the service shows it (specification, section 2.1). A field that the service did not send
 * is null; one that is not listed here is kept, without a type.
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

/** A Key that was just created: the only response that holds its secret (section 2.1). */
export interface CreatedKey extends Key {
  /** The password that belongs to the `sid`. Store it now: the service never shows it again. */
  readonly secret: string;
}

/** Parameters that a Key is created with, or changed to (section 4.1). */
export interface KeyInput {
  /** Up to 64 characters. */
  readonly friendly_name?: string | undefined;
}
