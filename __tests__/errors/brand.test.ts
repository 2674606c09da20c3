import { expectTypeOf } from "expect-type";
import { brand } from "../../lib/errors/brand";

/** Creates the class again, as each installed copy of the package does. */
function installCopy() {
  class PaperError extends Error {
    declare readonly name: "PaperError";
    readonly code = "TORN" as const;
    static {
      brand(this, "PaperError");
    }
  }
  return PaperError;
}

const PaperError = installCopy();
const OtherCopy = installCopy();

describe("brand", () => {
  it("makes instanceof recognise the errors of every copy of the package", () => {
    expect(new PaperError("x") instanceof PaperError).toBe(true);
    expect(new OtherCopy("x") instanceof PaperError).toBe(true);
    expect(new PaperError("x") instanceof OtherCopy).toBe(true);
    expect(
      Reflect.get(new PaperError("x"), Symbol.for("express-push-verification.PaperError")),
    ).toBe(true);
  });

  it("narrows the type like instanceof of any class", () => {
    const error: unknown = new OtherCopy("x");
    if (!(error instanceof PaperError)) throw new Error("not recognised");
    expectTypeOf(error.code).toEqualTypeOf<"TORN">();
    expectTypeOf(error.name).toEqualTypeOf<"PaperError">();
  });

  it.each([
    new Error("x"),
    Object.assign(new Error("x"), { name: "PaperError", code: "TORN" }),
    JSON.parse('{"name":"PaperError"}'),
    { [Symbol.for("express-push-verification.PaperError")]: 1 },
    PaperError,
    Object.create(null),
    "PaperError",
    undefined,
    null,
  ])("does not recognise %p", (value: unknown) => {
    expect(value instanceof PaperError).toBe(false);
  });

  it("keeps the ordinary instanceof of subclasses", () => {
    class TornError extends PaperError {}
    class WetError extends PaperError {}
    const torn: unknown = new TornError("x");
    expect(torn instanceof PaperError).toBe(true);
    expect(torn instanceof TornError).toBe(true);
    expect(torn instanceof WetError).toBe(false);
    expect((new PaperError("x") as unknown) instanceof TornError).toBe(false);
  });

  it("sets the name on the prototype, not enumerable and writable like that of Error", () => {
    const error = new PaperError("x");
    expect(error.name).toBe("PaperError");
    expect(error.stack).toMatch(/^PaperError: x/);
    expect(Object.keys(error)).toEqual(["code"]);
    expect(Object.getOwnPropertySymbols(error)).toEqual([]);
    const named = Object.assign(error, { name: "Other" });
    expect(String(named)).toBe("Other: x");
  });
});
