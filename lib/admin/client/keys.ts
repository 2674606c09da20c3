import type { CreatedKey, Key, KeyInput } from "./key";
import type { List } from "./list";
import type { RequestOptions } from "./transport";

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
