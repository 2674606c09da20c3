import lacks from "./platform.json";

/** What a test needs and a platform may lack; the table is platform.json. */
type Need = keyof typeof lacks;

export const has = (need: Need): boolean => lacks[need].platforms.includes(process.platform);

/** Adds the reason to the title of a skipped test, or of a table of them: the last line has it. */
function skip(need: Need) {
  const explain = (title: string) => `${title} [not on ${process.platform}: ${lacks[need].reason}]`;
  const one = (title: string) => it.skip(explain(title), () => {});
  const each = (rows: unknown[]) => (title: string) => it.skip.each(rows)(explain(title), () => {});
  return Object.assign(one, { each });
}

export const itNeeds = (need: Need) => (has(need) ? it : skip(need)) as unknown as typeof it;

export const describeNeeds = (need: Need) =>
  (has(need) ? describe : skip(need)) as unknown as typeof describe;
