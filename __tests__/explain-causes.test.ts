import { CAUSES, createVariants } from "../lib/explain-causes";

describe("CAUSES", () => {
  it.each(Object.entries(CAUSES))("%s says what happened and what to change", (_code, words) => {
    expect(words).toHaveLength(2);
    for (const text of words) expect(text).toMatch(/^[A-Z"].{20,}\.$/);
  });
});

describe("createVariants", () => {
  it("keeps each value once, with its first cause, and no more than asked", () => {
    const { add, list } = createVariants<number>(String, 3);
    add(1, []);
    add(1, ["URL_PORT"]);
    add(2, ["URL_PORT"], "two");
    add(3, []);
    add(4, []);
    expect(list).toEqual([
      { value: 1, causes: [] },
      { value: 2, causes: ["URL_PORT"], subject: "two" },
      { value: 3, causes: [] },
    ]);
  });
});
