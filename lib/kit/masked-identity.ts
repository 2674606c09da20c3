/**
 * Masks an identity: 3 characters at its start and 3 at its end remain, of a short one at most a
 * third of it in all.
 */
export function maskIdentity(identity: string): string {
  // Whole characters: half an emoji is not one.
  const characters = Array.from(identity);
  const shown = Math.min(6, Math.floor(characters.length / 3));
  const atEnd = Math.floor(shown / 2);
  const start = characters.slice(0, shown - atEnd);
  const end = atEnd === 0 ? [] : characters.slice(-atEnd);
  return `${start.join("")}…${end.join("")}`;
}
