import { joinOutcomeKey } from "../../lib/challenge/outcome-store";

describe("joinOutcomeKey", () => {
  it("is different for each account and challenge", () => {
    const keys = ["", "AC1", "AC2"].flatMap((account) =>
      ["YC1", "YC2"].map((challengeSid) => joinOutcomeKey({ account, challengeSid })),
    );
    expect(new Set(keys).size).toBe(6);
  });
});
