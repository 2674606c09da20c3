import type { SignatureCauseCode } from "../../errors/signature-causes";

/** A value that the service may have signed with, and the mistakes that would explain it. */
export interface Variant {
  value: string;
  /** Empty for the value as given. */
  causes: readonly SignatureCauseCode[];
  /** The detail that the causes are about; holds no secret. */
  subject?: string;
}

/** Returns a setting without white space and quotes at its ends. */
export function trimQuotes(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, "$2");
}

/** Creates a list of at most `max` variants, without equal values: add the likeliest first. */
export function createVariants(max: number) {
  const seen = new Set<string>();
  const list: Variant[] = [];
  return {
    list,
    add(value: string, causes: readonly SignatureCauseCode[], subject?: string): void {
      if (seen.has(value) || list.length >= max) return;
      seen.add(value);
      list.push({ value, causes, ...(subject !== undefined && { subject }) });
    },
  };
}
