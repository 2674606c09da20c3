import { ApiError } from "./api-error";
import type { FetchedFactor, KnownFactor, FactorDifference } from "./resources";

/**
 * Lists where the factors that an app knows of a user differ from the `factors` of the service.
 *
 * @throws the error of `factors`, unless the service says that it has no such user.
 */
export async function listFactorDifferences(
  factors: AsyncIterable<FetchedFactor>,
  known: readonly KnownFactor[],
): Promise<FactorDifference[]> {
  const gone = new Map(known.map(({ factorSid, status }) => [factorSid, status]));
  const differences: FactorDifference[] = [];
  try {
    for await (const factor of factors) {
      const { sid: factorSid } = factor;
      const status = factor.status === "verified" ? "verified" : "unverified";
      const type = status === "verified" ? "factor.verified" : "factor.created";
      if (gone.get(factorSid) !== status) differences.push({ type, factorSid, factor });
      gone.delete(factorSid);
    }
  } catch (error) {
    // Without a code of the service, it is the page of a proxy.
    const isUnknown = error instanceof ApiError && error.status === 404;
    if (!isUnknown || error.serviceCode === undefined) throw error;
  }
  for (const factorSid of gone.keys()) {
    differences.push({ type: "factor.deleted", factorSid, factor: undefined });
  }
  return differences;
}
