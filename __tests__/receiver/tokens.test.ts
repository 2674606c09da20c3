import { readTokens, readClaimedIdentity } from "../../lib/receiver/tokens";
import { ACCOUNT_SID, SERVICE_SID } from "../support/webhook-requests";

describe("readClaimedIdentity", () => {
  it("reads the SIDs that a request claims", () => {
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

  it("omits values without the form of a SID, because the app may look them up in a database", () => {
    const params = [
      ["account_sid", "' OR 1=1 --"],
      ["service_sid", ACCOUNT_SID],
    ] as const;
    expect(readClaimedIdentity(params)).toEqual({});
  });
});

describe("readTokens", () => {
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
    [{ authToken: "a" }, ["a"]],
    [{ authToken: ["", "a"] }, ["a"]],
  ])("reads %j as the tokens %j, for every service", (resolved, tokens) => {
    expect(readTokens(resolved)).toEqual({ tokens, serviceSids: undefined });
  });

  it.each<[unknown, string[]]>([
    [["VA1"], ["VA1"]],
    [[], []],
    ["VA1", []],
    [null, []],
  ])("reads serviceSids %j as %j", (serviceSids, allowed) => {
    expect(readTokens({ authToken: "a", serviceSids })).toEqual({
      tokens: ["a"],
      serviceSids: allowed,
    });
  });
});
