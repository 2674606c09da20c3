import fc from "fast-check";
import { createTextBlocks, readTexts } from "../../lib/memory/text-blocks";

describe("createTextBlocks", () => {
  it("returns all texts, independent of others", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.nat({ max: 10_000 }).map((length) => "€".repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(fc.array(text, { maxLength: 10 }), { maxLength: 20 }), (kept) => {
        const keepTexts = createTextBlocks();
        expect(kept.map(keepTexts).map(readTexts)).toEqual(kept);
      }),
    );
  });

  it("fills its blocks with texts of up to a quarter", () => {
    const keepTexts = createTextBlocks();
    const blocks = Array.from({ length: 9 }, () => keepTexts(["a".repeat(16_000)]).block);
    expect(new Set(blocks).size).toBe(3);
  });

  it("shares a block between texts, and allocates a block for each long text", () => {
    const keepTexts = createTextBlocks();
    const [first, second, long] = [["a"], ["b"], ["c".repeat(100_000)]].map(keepTexts);
    expect(second?.block).toBe(first?.block);
    expect(second?.start).toBe(first?.end);
    expect(long?.block).not.toBe(first?.block);
    expect(long?.start).toBe(0);
  });
});
