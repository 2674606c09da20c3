import type { List } from "./list";
import type { RequestOptions } from "./transport";

/**
 * Key of the account (specification, section 2.1). A field that the service did not send is null;
 * a field that is not listed here is kept, without a type.
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

/**
 * Keys of the account (section 4.1). Requires the credentials of the account or of a Main key.
 *
 * @throws (from the methods) ApiError, `SERVICE_ERROR` with status 404 for a SID that is not known;
 *   InputError for a malformed SID and for a name over 64 characters.
 */
export interface Keys extends List<Key> {
  /** Fetches a Key, without its secret (section 4.1). */
  fetch(sid: string, options?: RequestOptions): Promise<Key>;
  /**
   * Creates a Standard key and returns it with its secret, which no other response has. The path is
   * that of the list: the specification does not show one.
   */
  create(input?: KeyInput, options?: RequestOptions): Promise<CreatedKey>;
  /** Changes the name of a Key and returns the Key (section 4.1). */
  update(sid: string, input: KeyInput, options?: RequestOptions): Promise<Key>;
  /**
   * Deletes a Key.
   *
   * @throws ApiError `OWN_KEY`, status 409, for the Key that the client authenticates with, unless
   *   `force` is true.
   */
  delete(sid: string, options?: RequestOptions & { force?: boolean | undefined }): Promise<void>;
}
