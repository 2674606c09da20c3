import type { SignatureCause, SignatureReport } from "../errors/signature-causes";
import type * as Engine from "./explain/explain-signature";
import type { ExplainSignatureOptions } from "./explain/options";

/**
 * Loads the engine with the first explanation: few processes need it, and it would be a fifth of the
 * code that a receiver loads.
 */
export const loadEngine = () => require("./explain/explain-signature") as typeof Engine;

/**
 * Explains why a signature does not match: signs again with each known mistake, alone and in pairs,
 * and names the mistakes that make it match. If none does, it names the likeliest causes.
 *
 * One report takes at most 5,000 signatures over 6 million characters: some tens of milliseconds of
 * synchronous work. For each rejected request, use {@link WebhookError.explain}, which has a budget.
 *
 * The report holds no token, parameter value or valid signature. You may log it where you may log the URLs.
 *
 * @throws TypeError when there is no token.
 */
export function explainSignature(options: ExplainSignatureOptions): SignatureReport {
  return loadEngine().explain(options);
}

/** Describes the likeliest cause of a report in one line: all of them, if several are proven together. */
export function describeReport({ causes }: SignatureReport): string {
  const [first, ...others] = causes;
  const shown =
    first?.isProven === true ? [first, ...others.filter(isProven)] : [first ?? []].flat();
  const codes = [...new Set(shown.map(({ code }) => code))].join(", ");
  const texts = new Set(shown.flatMap(({ explanation, fix }) => [explanation, fix]));
  return `${first?.isProven === true ? "" : "Possibly "}${codes}: ${[...texts].join(" ")}`;
}

const isProven = (cause: SignatureCause) => cause.isProven;
