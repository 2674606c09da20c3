import { maskIdentity } from "../../lib/kit/masked-identity";

it.each([
  ["jane.doe@example.com", "jan…com"],
  ["user-7f3a-22", "us…22"],
  ["123456789", "12…9"],
  ["123456", "1…6"],
  ["123", "1…"],
  ["ab", "…"],
  ["😀😀😀ada@example.com😀", "😀😀😀…om😀"],
])("of the identity %s at most a third and 6 characters remain: %s", (identity, masked) => {
  expect(maskIdentity(identity)).toBe(masked);
});
