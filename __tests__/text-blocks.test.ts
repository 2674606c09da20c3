import fc from "fast-check";
import { createTextBlocks, readText } from "../lib/text-blocks";

describe("createTextBlocks", () => {
  it("gives every text back, whatever was kept before and after it", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.nat({ max: 40_000 }).map((length) => "€".repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 50 }), (texts) => {
        const keepText = createTextBlocks();
        expect(texts.map(keepText).map(readText)).toEqual(texts);
      }),
    );
  });

  it("shares a block between texts, and gives a long one a block of its own", () => {
    const keepText = createTextBlocks();
    const [first, second, long] = ["a", "b", "c".repeat(100_000)].map(keepText);
    expect(second?.block).toBe(first?.block);
    expect(long?.block).not.toBe(first?.block);
    expect(long?.end).toBe(100_000);
  });
});
