import type { SignatureCauseCode } from "../../errors/signature-causes";

/** A value that the service may have signed with, and the mistakes that would explain it. */
export interface Variant {
  value: string;
  /** Empty for the value as given. */
  causes: readonly SignatureCauseCode[];
  /** The detail that the causes are about; holds no secret. */
  subject?: string | undefined;
  /** When it is tried: the later, the more. @default the number of causes */
  rank?: number;
}

/**
 * Collects variants of different values until there are `maxEntries`, or they have `maxCharacters`. The
 * rest is never created.
 */
export function collectVariants(
  variants: Iterable<Variant>,
  maxEntries: number,
  maxCharacters = Number.POSITIVE_INFINITY,
): Variant[] {
  const collected = new Map<string, Variant>();
  let characters = 0;
  for (const variant of variants) {
    characters += variant.value.length;
    if (!collected.has(variant.value)) collected.set(variant.value, variant);
    if (collected.size === maxEntries || characters >= maxCharacters) break;
  }
  return [...collected.values()];
}

/** Returns a setting without white space and quotes at its ends. */
export function trimQuotes(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, "$2");
}
