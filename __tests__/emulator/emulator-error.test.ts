import { expectTypeOf } from "expect-type";
import {
  createEmulator,
  EmulatorError,
  type EmulatorErrorCode,
} from "express-push-verification/emulator";
import { ERRORS } from "../../lib/emulator/emulator-error";

/** Returns the error of a challenge that does not exist. */
function catchError(): unknown {
  try {
    createEmulator().approveChallenge("YC1");
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

describe("EmulatorError", () => {
  it("has a literal code, the service's number, a status and a name", () => {
    const error = catchError();
    if (!(error instanceof EmulatorError)) throw new Error("not an EmulatorError");
    expect(error).toMatchObject({ code: "NOT_FOUND", serviceCode: 20404, status: 404 });
    expect(error.name).toBe("EmulatorError");
    expect(Object.hasOwn(error, "name")).toBe(false);
    expectTypeOf(error.code).toEqualTypeOf<EmulatorErrorCode>();
    // @ts-expect-error: misspelt code
    expect(error.code === "NOT_FOND").toBe(false);
  });

  it.each(Object.entries(ERRORS))(
    "%s has its number, its status and its JSON",
    (code, expected) => {
      const error = new EmulatorError(code as EmulatorErrorCode, "why", { Allow: "GET" });
      expect(error).toMatchObject({ ...expected, headers: { Allow: "GET" } });
      expect(JSON.parse(JSON.stringify(error))).toEqual({
        name: "EmulatorError",
        code,
        serviceCode: expected.serviceCode,
        status: expected.status,
        message: "why",
      });
    },
  );

  it("is recognised when another copy of the package made it", () => {
    jest.isolateModules(() => {
      const other = require("../../lib/emulator/emulator-error") as {
        EmulatorError: typeof EmulatorError;
      };
      expect(other.EmulatorError).not.toBe(EmulatorError);
      expect(new other.EmulatorError("NOT_FOUND", "x") instanceof EmulatorError).toBe(true);
    });
    expect((new Error("x") as unknown) instanceof EmulatorError).toBe(false);
  });
});
