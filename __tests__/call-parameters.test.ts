import { listCallParams, V1_PARAMETERS, V2_PARAMETERS } from "../lib/call-parameters";

describe("listCallParams", () => {
  const every = Object.fromEntries(V2_PARAMETERS.map((name) => [name, name]));

  it.each([
    ["v1", "factor.created", V1_PARAMETERS.slice(0, -1)],
    ["v1", "challenge.denied", V1_PARAMETERS],
    ["v2", "factor.deleted", V2_PARAMETERS.slice(0, 9)],
    ["v2", "challenge.approved", V2_PARAMETERS],
  ] as const)("chooses for %s of %s", (version, type, names) => {
    const params = listCallParams(version, { ...every, type });
    expect(params.map(([name]) => name)).toEqual(names);
  });

  it("leaves out what is undefined, and keeps what is empty", () => {
    expect(
      listCallParams("v2", { type: "challenge.denied", uuid: "", factor_sid: undefined }),
    ).toEqual([
      ["uuid", ""],
      ["type", "challenge.denied"],
    ]);
  });
});
