const BLOCK_BYTES = 65_536;
const LENGTH_BYTES = 4;
/** The most that a UTF-16 code unit takes as UTF-8. */
const MAX_UNIT_BYTES = 3;

/** Texts that were kept: how many, the length of each, and all of them as UTF-8. */
export interface KeptTexts {
  block: Buffer;
  start: number;
  end: number;
}

/**
 * Makes a place for texts that are kept long and seldom read: as bytes in blocks that they share,
 * so that they take half the memory, and nothing of it is looked at in a garbage collection.
 *
 * A block is freed with the last texts in it: forget them in about the order that they came in.
 */
export function createTextBlocks(): (texts: readonly string[]) => KeptTexts {
  let block = Buffer.alloc(0);
  let used = 0;

  return function keepTexts(texts) {
    let joined = "";
    for (const text of texts) joined += text;
    const headBytes = LENGTH_BYTES * (texts.length + 1);
    // The exact length takes as long as the write: it is asked for near the end of a block alone.
    if (used + headBytes + MAX_UNIT_BYTES * joined.length > block.length) {
      const bytes = headBytes + Buffer.byteLength(joined);
      // A block of its own, so that the unused end of a shared block is a quarter at most.
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

function writeTexts(
  block: Buffer,
  start: number,
  texts: readonly string[],
  joined: string,
): KeptTexts {
  let end = block.writeUInt32LE(texts.length, start);
  for (const text of texts) end = block.writeUInt32LE(text.length, end);
  end += block.write(joined, end, "utf8");
  return { block, start, end };
}

/** The texts that were kept. */
export function readTexts({ block, start, end }: KeptTexts): string[] {
  const count = block.readUInt32LE(start);
  const lengths = Array.from({ length: count }, (_, index) =>
    block.readUInt32LE(start + LENGTH_BYTES * (index + 1)),
  );
  const joined = block.toString("utf8", start + LENGTH_BYTES * (count + 1), end);
  let at = 0;
  return lengths.map((length) => joined.slice(at, (at += length)));
}
