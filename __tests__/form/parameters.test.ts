import {
  hasParameter,
  listEventPairs,
  listFlatPairs,
  listParameterNames,
  V1_PARAMETERS,
  V2_PARAMETERS,
} from "../../lib/form/parameters";

const CASES = [
  ["v1", "factor.created", V1_PARAMETERS.slice(0, -1)],
  ["v1", "challenge.denied", V1_PARAMETERS],
  ["v2", "factor.deleted", V2_PARAMETERS.slice(0, 9)],
  ["v2", "challenge.approved", V2_PARAMETERS],
] as const;

it.each(CASES)("listParameterNames lists the parameters of %s of %s", (version, type, names) => {
  expect(listParameterNames(type, version)).toEqual(names);
});

describe("listEventPairs", () => {
  const every = Object.fromEntries(V2_PARAMETERS.map((name) => [name, name]));

  it.each(CASES)("lists the pairs of %s of %s", (version, type, names) => {
    const pairs = listEventPairs(version, { ...every, type });
    expect(pairs.map(([name]) => name)).toEqual(names);
  });

  it("omits undefined values and keeps empty ones", () => {
    expect(
      listEventPairs("v2", { type: "challenge.denied", uuid: "", factor_sid: undefined }),
    ).toEqual([
      ["uuid", ""],
      ["type", "challenge.denied"],
    ]);
  });
});

it.each([
  ["factor.created", "challenge_sid", false],
  ["factor.created", "factor_type", true],
  ["challenge.denied", "challenge_metadata", true],
])("hasParameter: events of %s have %s: %j", (type, name, expected) => {
  expect(hasParameter(type, name)).toBe(expected);
});

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
