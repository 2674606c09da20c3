/**
 * Masks an identity: 3 characters at its start and 3 at its end remain, of a short one at most a
 * third of it in all.
 */
export function maskIdentity(identity: string): string {
  const shown = Math.min(6, Math.floor(identity.length / 3));
  const atEnd = Math.floor(shown / 2);
  const start = identity.slice(0, shown - atEnd);
  const end = atEnd === 0 ? "" : identity.slice(-atEnd);
  return `${start}…${end}`;
}

/** Cuts a text of a sender or of an error, so that a row stays small. */
export function cutText(text: string, maxCharacters = 1_024): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
