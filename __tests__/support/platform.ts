import needs from "./platform.json";

/** What a test needs and a platform may lack; the table is platform.json. */
export type Need = keyof typeof needs;

/** Returns whether this platform has what a test needs. */
export const has = (need: Need): boolean => needs[need].platforms.includes(process.platform);

/** `it` for a test with a need; where the platform lacks it, the last lines of the run say why. */
export const itNeeds = (need: Need) => (has(need) ? it : it.skip);

/** `describe` for tests with a need. */
export const describeNeeds = (need: Need) => (has(need) ? describe : describe.skip);
