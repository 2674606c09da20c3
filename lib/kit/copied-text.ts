/** For short texts: a buffer of its own would take more memory than its text. */
const ROOM = Buffer.allocUnsafeSlow(1_024);

/** Copies a text: a slice of a longer one, such as a body, would keep that one in memory. */
export function copyText(text: string): string {
  // UTF-8 has at most three bytes for a code unit.
  if (3 * text.length > ROOM.length) return Buffer.from(text, "utf8").toString("utf8");
  return ROOM.toString("utf8", 0, ROOM.write(text, "utf8"));
}
