import { PermanentError } from "express-push-verification";

describe("PermanentError", () => {
  it("is an Error with a name, a message and a cause", () => {
    const cause = new Error("inside");
    const error = new PermanentError("no such user", { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "PermanentError", message: "no such user", cause });
  });

  it("recognises an error of another installed copy, and no other value", () => {
    let Other: typeof PermanentError | undefined;
    jest.isolateModules(() => {
      ({ PermanentError: Other } = jest.requireActual<{ PermanentError: typeof PermanentError }>(
        "../../lib/errors/permanent-error",
      ));
    });
    expect(Other).not.toBe(PermanentError);
    expect(new (Other as typeof PermanentError)("x")).toBeInstanceOf(PermanentError);
    expect(
      [new Error("x"), {}, null, "x"].some((value) => (value as object) instanceof PermanentError),
    ).toBe(false);
  });
});
