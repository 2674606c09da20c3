import { describeFailure } from "../../lib/cli/failure";

const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:2"), {
  code: "ECONNREFUSED",
});

describe("describeFailure", () => {
  it.each<[unknown, string]>([
    [new Error("No such file."), "No such file."],
    [new Error("Failed.", { cause: refused }), `Failed: ${refused.message}.`],
    [
      new Error("Failed.", { cause: new TypeError("fetch failed", { cause: refused }) }),
      `Failed: ${refused.message}.`,
    ],
    [new Error(`Failed: ${refused.message}.`, { cause: refused }), `Failed: ${refused.message}.`],
    [
      new Error("Failed.", { cause: new AggregateError([new Error("a"), new Error("b")]) }),
      "Failed: a; b.",
    ],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [new Error("Failed.", { cause: "text" }), "Failed."],
    ["text", "text"],
  ])("%s", (error, text) => {
    expect(describeFailure(error)).toBe(text);
  });
});
