import { listFlatPairs } from "../../lib/form/parameters";

describe("listFlatPairs", () => {
  it("lists strings and lists of strings in their order", () => {
    expect(listFlatPairs({ a: "1", b: ["2", ""] })).toEqual([
      ["a", "1"],
      ["b", "2"],
      ["b", ""],
    ]);
  });

  it.each([[{}], [{ a: { b: "1" } }], [{ a: [1] }], [["a"]], [null], ["a=1"]])(
    "returns undefined for %j",
    (value) => expect(listFlatPairs(value)).toBeUndefined(),
  );
});
