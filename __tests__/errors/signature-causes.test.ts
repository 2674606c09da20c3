import { CAUSES } from "../../lib/errors/signature-causes";

describe("CAUSES", () => {
  it.each(Object.entries(CAUSES))("%s says what happened and what to change", (_code, words) => {
    expect(words).toHaveLength(2);
    for (const text of words) expect(text).toMatch(/^[A-Z"].{20,}\.$/);
  });
});
