import { copyText } from "./copied-text";

/** How many texts a buffer holds. */
const BUFFER_TEXTS = 256;
/** The bytes of the length that stands before a text. */
const LENGTH_BYTES = 2;

/**
 * Texts by their numbers from 0 on, outside the heap of V8: in it, 80,000 texts took 100 MB of RSS, as
 * what is kept makes the young generation grow, and the old one hold as much garbage.
 */
export class TextColumn {
  readonly #placeBytes: number;
  readonly #buffers: Buffer[] = [];
  /** The texts that are longer than their places. */
  readonly #longTexts = new Map<number, string>();

  /** @param textBytes how many bytes a text usually has at most: each takes as many. */
  constructor(textBytes: number) {
    this.#placeBytes = LENGTH_BYTES + textBytes;
  }

  get(index: number): string {
    const { buffer, at } = this.#find(index);
    const start = at + LENGTH_BYTES;
    return (
      this.#longTexts.get(index) ?? buffer.toString("utf8", start, start + buffer.readUInt16LE(at))
    );
  }

  /** Returns how many bytes a text takes here. */
  countBytes(text: string): number {
    const bytes = Buffer.byteLength(text);
    return this.#placeBytes + (this.#isLong(bytes) ? bytes : 0);
  }

  set(index: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#isLong(bytes)) {
      this.#longTexts.set(index, copyText(text));
      return;
    }
    const { buffer, at } = this.#find(index);
    buffer.writeUInt16LE(bytes, at);
    buffer.write(text, at + LENGTH_BYTES);
  }

  delete(index: number): void {
    this.#longTexts.delete(index);
  }

  #isLong(bytes: number): boolean {
    return LENGTH_BYTES + bytes > this.#placeBytes;
  }

  #find(index: number): { buffer: Buffer; at: number } {
    const number = Math.floor(index / BUFFER_TEXTS);
    const buffer = (this.#buffers[number] ??= Buffer.alloc(BUFFER_TEXTS * this.#placeBytes));
    return { buffer, at: (index % BUFFER_TEXTS) * this.#placeBytes };
  }
}
