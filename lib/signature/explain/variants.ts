import type { SignatureCauseCode } from "../../errors/signature-causes";

/** A value that the service may have signed with, and the mistakes that would explain it. */
export interface Variant<Value> {
  value: Value;
  /** Empty for the value as given. */
  causes: readonly SignatureCauseCode[];
  /** The detail that the causes are about; holds no secret. */
  subject?: string;
}

/**
 * Creates a list of at most `max` variants. A value that is added again is ignored, so add the
 * variants with the fewest causes first.
 */
export function createVariants<Value>(keyOf: (value: Value) => string, max: number) {
  const seen = new Set<string>();
  const list: Variant<Value>[] = [];
  return {
    list,
    add(value: Value, causes: readonly SignatureCauseCode[], subject?: string): void {
      const key = keyOf(value);
      if (seen.has(key) || list.length >= max) return;
      seen.add(key);
      list.push({ value, causes, ...(subject !== undefined && { subject }) });
    },
  };
}
