import { EmulatorError } from "../emulator-error";
import { formatIso8601 } from "./dates";
import type { Challenge } from "./entity";

const DEFAULT_EXPIRATION_MS = 300_000;
const MAX_EXPIRATION_MS = 3_600_000;

/** Lets a challenge expire whose time is over, and returns it. */
export function expire(challenge: Challenge, nowMs: number): Challenge {
  const { status, expiration_date } = challenge;
  if (status === "pending" && nowMs >= Date.parse(expiration_date)) {
    Object.assign(challenge, { status: "expired", date_updated: expiration_date });
  }
  return challenge;
}

/**
 * Returns the ExpirationDate of a new challenge, 5 minutes from now unless one is given.
 *
 * @throws EmulatorError `REQUEST_INVALID` for one that is not within the next hour.
 */
export function readExpirationDate(given: string | undefined, nowMs: number): string {
  const ms = given === undefined ? nowMs + DEFAULT_EXPIRATION_MS : Date.parse(given);
  const expirationDate = formatIso8601(ms);
  const remainingMs = Date.parse(expirationDate) - nowMs;
  if (remainingMs <= 0 || remainingMs > MAX_EXPIRATION_MS) {
    const message = "Invalid parameter: ExpirationDate (must be within the next 60 minutes)";
    throw new EmulatorError("REQUEST_INVALID", message);
  }
  return expirationDate;
}
