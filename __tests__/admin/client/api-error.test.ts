import { expectTypeOf } from "expect-type";
import { ApiError, type ApiErrorCode } from "express-push-verification/admin";

const fields = { code: "SERVICE_ERROR", status: 404, method: "GET", path: "/x" } as const;

describe("ApiError", () => {
  it("has a literal code, the service's number, a status and a name", () => {
    const error = new ApiError("No such Key", { ...fields, serviceCode: 20404 });
    expect(error).toMatchObject({ code: "SERVICE_ERROR", serviceCode: 20404, status: 404 });
    expect(error.name).toBe("ApiError");
    expect(Object.hasOwn(error, "name")).toBe(false);
    expectTypeOf(error.code).toEqualTypeOf<ApiErrorCode>();
    expectTypeOf(error.name).toEqualTypeOf<"ApiError">();
    expectTypeOf(error.serviceCode).toEqualTypeOf<number | undefined>();
    // @ts-expect-error: misspelt code
    void new ApiError("x", { ...fields, code: "TIME_OUT" });
  });

  it("is written to JSON without its cause", () => {
    const cause = new Error("connect ECONNREFUSED 10.0.0.7");
    const error = new ApiError("No such Key", { ...fields, serviceCode: 20404 }, { cause });
    expect(error.cause).toBe(cause);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "ApiError",
      code: "SERVICE_ERROR",
      serviceCode: 20404,
      status: 404,
      message: "No such Key",
    });
    const silent = new ApiError("No response", { ...fields, code: "TIMEOUT", status: 0 });
    expect(JSON.parse(JSON.stringify(silent))).toEqual({
      name: "ApiError",
      code: "TIMEOUT",
      status: 0,
      message: "No response",
    });
  });

  it("is recognised when another copy of the package made it", () => {
    jest.isolateModules(() => {
      const other = require("../../../lib/admin/client/api-error") as { ApiError: typeof ApiError };
      expect(other.ApiError).not.toBe(ApiError);
      expect(new other.ApiError("x", fields) instanceof ApiError).toBe(true);
      expect(new ApiError("x", fields) instanceof other.ApiError).toBe(true);
    });
    expect((new Error("x") as unknown) instanceof ApiError).toBe(false);
  });
});
