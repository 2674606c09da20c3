/** Copies a text: a slice of the body that it was parsed from would keep the whole body. */
export function copyText(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Measured: a string without its characters. */
const TEXT_BYTES = 24;

/** Returns how many bytes a text takes in memory: two for each character if one is beyond Latin-1. */
export function sizeOfText(text: string): number {
  return TEXT_BYTES + (/[\u0100-\uffff]/.test(text) ? 2 * text.length : text.length);
}
