import { describeError } from "../../kit/thrown-value";
import type { ApiError } from "../client/api-error";
import type { Problem } from "./report";

/** Describes a failed request to the service. Rethrows what is no Error. */
export function describeApiError(error: unknown): Problem {
  if (!(error instanceof Error)) throw error;
  const { serviceCode } = error as Partial<ApiError>;
  const number = serviceCode === undefined ? "" : ` (error ${serviceCode})`;
  return { reason: `${describeError(error)}${number}` };
}
