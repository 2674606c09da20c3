import { runSafely } from "../lib/listener";

describe("runSafely", () => {
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
    [
      "throws an Error with a symbol for a name",
      () => {
        throw Object.assign(new Error(), { name: Symbol("x") });
      },
      /without a name/,
    ],
    [
      "throws a Proxy",
      () => {
        throw new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error("hush");
            },
          },
        );
      },
      /without a name/,
    ],
    ["throws a value", () => Promise.reject("hush"), /no Error/],
  ])(
    "brings up a listener that %s, and nothing of what it threw",
    async (_what, listener, words) => {
      await runSafely(listener);
      expect(warnings.mock.calls).toEqual([
        [expect.stringMatching(words), { type: "PushWebhooksWarning", code: "LISTENER_FAILED" }],
      ]);
      expect(JSON.stringify(warnings.mock.calls)).not.toContain("hush");
    },
  );

  it("says nothing of one that does its work", async () => {
    await runSafely(() => Promise.resolve());
    expect(warnings).not.toHaveBeenCalled();
  });
});
