import type { SignatureCauseCode } from "./causes";

/** A value that the service may have signed with, and the mistakes that would explain it. */
export interface Variant {
  value: string;
  /** Empty for the value as given. */
  causes: readonly SignatureCauseCode[];
  /** The detail that the causes are about; holds no secret. */
  subject?: string | undefined;
}

/** A list of variants without equal values, bounded in entries and in characters: likeliest first. */
export class Variants {
  readonly list: Variant[] = [];
  readonly #seen = new Set<string>();

  constructor(
    readonly maxEntries: number,
    public charactersLeft: number,
  ) {}

  get isFull(): boolean {
    return this.list.length >= this.maxEntries || this.charactersLeft <= 0;
  }

  add(value: string, causes: readonly SignatureCauseCode[], subject?: string): void {
    this.charactersLeft -= value.length;
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    this.list.push({ value, causes, subject });
  }
}

/** Returns a setting without white space and quotes at its ends. */
export function trimQuotes(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, "$2");
}
