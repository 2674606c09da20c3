import { parseJson } from "../../lib/form/json";

it.each([
  ['{"a":[1,null]}', { a: [1, null] }],
  ["null", null],
  ["", undefined],
  ["<html>", undefined],
  ['{"a":', undefined],
])("parses %j", (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
