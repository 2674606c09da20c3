import { formatAge, plural } from "../../../lib/admin/console/page/format";

it.each([
  [-1, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_599_999, "59 min"],
  [3_600_000, "1 h"],
  [172_799_999, "47 h"],
  [172_800_000, "2 days"],
])("an age of %d ms is %s", (ms, text) => expect(formatAge(ms)).toBe(text));

it("a count has separators before a plural noun", () => {
  const texts = [0, 1, 1_234.56].map((count) => plural(count, "event"));
  expect(texts).toEqual(["0 events", "1 event", "1,234.6 events"]);
});
