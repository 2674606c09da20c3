import { listTokens, readClaimedIdentity } from "../lib/tokens";
import { ACCOUNT_SID, SERVICE_SID } from "./support/calls";

describe("readClaimedIdentity", () => {
  it("reads the SIDs that a call claims", () => {
    const params = [
      ["x", "1"],
      ["service_sid", SERVICE_SID],
      ["account_sid", ACCOUNT_SID],
    ] as const;
    expect(readClaimedIdentity(params)).toEqual({
      account_sid: ACCOUNT_SID,
      service_sid: SERVICE_SID,
    });
  });

  it("leaves out what has not the form of a SID: it goes to somebody's database", () => {
    const params = [
      ["account_sid", "' OR 1=1 --"],
      ["service_sid", ACCOUNT_SID],
    ] as const;
    expect(readClaimedIdentity(params)).toEqual({});
  });
});

describe("listTokens", () => {
  it.each<[unknown, string[]]>([
    ["a", ["a"]],
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [undefined, []],
    [null, []],
    ["", []],
    [["", "a", 5, null], ["a"]],
    [{ a: 1 }, []],
  ])("%j: %j", (given, tokens) => {
    expect(listTokens(given)).toEqual(tokens);
  });
});
