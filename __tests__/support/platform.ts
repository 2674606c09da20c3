import lacks from "./platform.json";

/** What a test needs and a platform may lack; the table is platform.json. */
export type Need = keyof typeof lacks;

/** Returns whether this platform has what a test needs. */
export const has = (need: Need): boolean => lacks[need].platforms.includes(process.platform);

/** Adds the reason to the title of a skipped test: the last line of the run has it. */
const skip = (need: Need) => (title: string) =>
  it.skip(`${title} [not on ${process.platform}: ${lacks[need].reason}]`, () => {});

/** `it` for a test with a need. */
export const itNeeds = (need: Need) => (has(need) ? it : skip(need)) as typeof it;

/** `describe` for tests with a need. */
export const describeNeeds = (need: Need) => (has(need) ? describe : skip(need)) as typeof describe;
