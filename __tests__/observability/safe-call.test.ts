import { callSafely } from "../../lib/observability/safe-call";

describe("callSafely", () => {
  let warnings: jest.SpyInstance;
  beforeEach(() => {
    warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterEach(() => warnings.mockRestore());

  it.each<[string, () => unknown, RegExp]>([
    [
      "throws",
      () => {
        throw new RangeError("hush");
      },
      /RangeError/,
    ],
    ["rejects", () => Promise.reject(new RangeError("hush")), /RangeError/],
    ["throws a value", () => Promise.reject("hush"), /not an Error/],
  ])(
    "warns once about a listener that %s, without the message of the error",
    async (_what, listener, words) => {
      for (let times = 0; times < 3; times++) await callSafely(listener, listener);
      expect(warnings.mock.calls).toEqual([
        [expect.stringMatching(words), { type: "PushWebhooksWarning", code: "LISTENER_FAILED" }],
      ]);
      expect(JSON.stringify(warnings.mock.calls)).not.toContain("hush");
    },
  );

  it("does not warn about a listener that returns", async () => {
    await callSafely({}, () => Promise.resolve());
    expect(warnings).not.toHaveBeenCalled();
  });
});
