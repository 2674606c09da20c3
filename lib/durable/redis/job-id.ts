import type { NewEvent } from "../storage";

const UUID_DIGITS = 8;

/** Returns the identifier of the job of an event: unique, as the content is. */
export function jobIdOf({ uuidHash, content }: NewEvent): string {
  return `${uuidHash.slice(0, UUID_DIGITS)}-${content}`;
}

/** Returns the content of the event of a job. */
export function contentOf(jobId: string): string {
  return jobId.slice(UUID_DIGITS + 1);
}

/** Returns the pattern of the jobs of a uuid; another uuid may share it. */
export function jobPatternOf(uuidHash: string): string {
  return `${uuidHash.slice(0, UUID_DIGITS)}-*`;
}
