const BLOCK_BYTES = 65_536;

/** A text that was kept as bytes. */
export interface KeptText {
  block: Buffer;
  start: number;
  end: number;
}

/**
 * Makes a place for many texts that are kept long and seldom read: as UTF-8 in blocks that they
 * share, so that they take half the memory and the garbage collector never moves them.
 *
 * A block is freed with the last text in it: forget texts in about the order that they came in.
 */
export function createTextBlocks(): (text: string) => KeptText {
  let block = Buffer.alloc(0);
  let used = 0;

  return function keepText(text) {
    // The most that a UTF-16 code unit takes as UTF-8.
    const maxBytes = 3 * text.length;
    if (used + maxBytes > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, maxBytes));
      used = 0;
    }
    const start = used;
    used += block.write(text, start, "utf8");
    return { block, start, end: used };
  };
}

/** The text that was kept. */
export function readText({ block, start, end }: KeptText): string {
  return block.toString("utf8", start, end);
}
