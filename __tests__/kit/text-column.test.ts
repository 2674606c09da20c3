import { TextColumn } from "../../lib/kit/text-column";

describe("TextColumn", () => {
  it("counts the bytes that a text takes", () => {
    const column = new TextColumn(8);
    expect(["", "12345678", "éééé", "123456789"].map((text) => column.countBytes(text))).toEqual([
      10, 10, 10, 19,
    ]);
  });

  it("returns the last text of each number, longer than a place or not", () => {
    const column = new TextColumn(8);
    const texts = [
      "",
      "a",
      "12345678",
      "123456789",
      "éééé",
      "ééééé",
      "\ufeff\0",
      "x".repeat(70_000),
    ];
    for (let round = 0; round < texts.length; round++) {
      for (let index = 0; index < 1_000; index += 3) {
        column.delete(index);
        column.set(index, texts[(index + round) % texts.length]!);
      }
      for (let index = 0; index < 1_000; index += 3) {
        expect(column.get(index)).toBe(texts[(index + round) % texts.length]);
      }
    }
  });
});
