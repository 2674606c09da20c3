import { EmulatorError } from "../emulator-error";
import { formatRfc2822 } from "./dates";
import { isKeyName, newKeySchema, validateFields } from "./schemas";
import type { Complete } from "../../kit/validate-options";

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

/** Stored key, with the fields that responses show once or never. */
type StoredKey = KeyResource & Complete<NewKey>;

export type StoredKeys = ReturnType<typeof createKeys>;

/**
 * Creates the keys of the account. The keys that its methods return are live: `rename` changes them.
 *
 * @throws EmulatorError (from its methods) 20002 for a name over 64 characters, 60200 for another
 *   invalid field, 70151 for more than `maxKeys` keys.
 */
export function createKeys(now: () => number, maxKeys: number) {
  const keys = new Map<string, StoredKey>();

  return {
    create(key: NewKey): StoredKey {
      assertKeyName(key.friendly_name ?? "");
      const fields = validateFields(newKeySchema, key);
      if (keys.has(fields.sid)) {
        throw new EmulatorError("PARAMETER_INVALID", "Invalid parameter: sid (is in use)");
      }
      if (keys.size >= maxKeys) {
        throw new EmulatorError("TOO_MANY_KEYS", "Maximum Number Of API Keys Exceeded");
      }
      const date = formatRfc2822(now());
      const created: StoredKey = { ...fields, date_created: date, date_updated: date };
      keys.set(created.sid, created);
      return created;
    },
    find: (sid = "") => keys.get(sid),
    rename(key: StoredKey, friendlyName: string): void {
      assertKeyName(friendlyName);
      key.friendly_name = friendlyName;
      key.date_updated = formatRfc2822(now());
    },
    remove: ({ sid }: StoredKey) => void keys.delete(sid),
    list: (): Iterable<StoredKey> => keys.values(),
  };
}

/** Returns the fields of a key that responses show (section 2.1). */
export function toKeyResource(key: StoredKey): KeyResource {
  const { secret: _, type: __, ...resource } = key;
  return resource;
}

function assertKeyName(name: unknown): void {
  if (!isKeyName(name)) throw new EmulatorError("KEY_NAME_INVALID", "Invalid FriendlyName");
}
