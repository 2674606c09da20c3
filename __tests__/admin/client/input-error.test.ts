import { expectTypeOf } from "expect-type";
import { ApiError, InputError } from "express-push-verification/admin";

const issues = [{ path: "webhook_url", message: "must be an absolute http or https URL" }];

describe("InputError", () => {
  it("is a TypeError with a literal code and a name", () => {
    const error = new InputError("webhook", issues);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ code: "INVALID_INPUT", issues });
    expect(error.name).toBe("InputError");
    expect(Object.hasOwn(error, "name")).toBe(false);
    expectTypeOf(error.code).toEqualTypeOf<"INVALID_INPUT">();
  });

  it("is written to JSON as its name, code and message", () => {
    expect(JSON.parse(JSON.stringify(new InputError("webhook", issues)))).toEqual({
      name: "InputError",
      code: "INVALID_INPUT",
      message: "webhook: webhook_url: must be an absolute http or https URL",
    });
  });

  it("is recognised when another copy of the package made it", () => {
    jest.isolateModules(() => {
      const other = require("../../../lib/admin/client/input-error") as {
        InputError: typeof InputError;
      };
      expect(other.InputError).not.toBe(InputError);
      expect(new other.InputError("sid", issues) instanceof InputError).toBe(true);
    });
    expect((new TypeError("x") as unknown) instanceof InputError).toBe(false);
    expect((new InputError("sid", issues) as unknown) instanceof ApiError).toBe(false);
  });
});
