import type { DeadLetterOptions } from "./dead-letter";
import { readEventNames } from "./event-names";

/**
 * Chooses the dead letters of a uuid that a retry or a discard means.
 *
 * @param read returns the stored event of a letter.
 * @returns undefined when they are of several authenticated accounts: the account_sid of an event may
 *   be a claim of its signer.
 */
export function chooseLetters<Letter>(
  letters: readonly Letter[],
  read: (letter: Letter) => unknown,
  { accountSid, receiver }: DeadLetterOptions,
): Letter[] | undefined {
  const accounts = new Set<string>();
  const chosen = letters.filter((letter) => {
    const names = readEventNames(read(letter));
    if ((accountSid ?? names.accountSid) !== names.accountSid) return false;
    if ((receiver ?? names.receiver) !== names.receiver) return false;
    accounts.add(names.account);
    return true;
  });
  return accounts.size > 1 ? undefined : chosen;
}

/** Creates the error of a choice between dead letters of several accounts. */
export function createAmbiguityError(method: "retry" | "discard"): TypeError {
  return new TypeError(
    `${method}: several accounts or receivers have a dead letter of this uuid. Pass those of the letter: ${method}(uuid, { accountSid, receiver }).`,
  );
}
