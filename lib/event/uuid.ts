import { SID_DIGITS } from "../form/sid";

/** The source of a pattern: a UUID, 32 hexadecimal digits or a SID. */
export const IDENTIFIER = `(?:[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?:[A-Za-z]{2})?${SID_DIGITS})`;

// A parameter after the uuid has a name that is sorted after "uuid".
const MAY_CONTAIN_NAME = new RegExp(`^${IDENTIFIER}[^]*[u-\uffff]`);

/**
 * Returns whether a uuid cannot be a shorter one and the parameters after it: a text that begins
 * with an identifier (a UUID, 32 hexadecimal digits or a SID) and goes on with a character from `u`
 * on, such as `<UUID>-retry`, can.
 */
export function isUuidUnique(uuid: string): boolean {
  return !MAY_CONTAIN_NAME.test(uuid);
}
