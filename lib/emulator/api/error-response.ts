import { EmulatorError } from "../emulator-error";
import type { EndpointResponse } from "./endpoint-router";

/**
 * Creates the response to a request that failed (specification, section 7). An error that is not an
 * EmulatorError is a fault of the emulator: the response is a 500 and the process emits a warning.
 */
export function toErrorResponse(error: unknown): EndpointResponse {
  const { serviceCode, status, message, headers } =
    error instanceof EmulatorError ? error : reportFault(error);
  const more_info = `https://docs.example.test/errors/${serviceCode}`;
  return { status, headers, body: { code: serviceCode, message, more_info, status } };
}

function reportFault(error: unknown): EmulatorError {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error was thrown";
  process.emitWarning(`The emulator responded 500. ${what}`, { type: "EmulatorWarning" });
  return new EmulatorError("INTERNAL", "Internal Server Error");
}
