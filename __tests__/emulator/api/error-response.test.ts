import { toErrorResponse } from "../../../lib/emulator/api/error-response";
import {
  EmulatorError,
  ERRORS,
  type EmulatorErrorCode,
} from "../../../lib/emulator/emulator-error";

describe("toErrorResponse", () => {
  it.each(Object.entries(ERRORS))("has the body of the service for %s", (code, expected) => {
    const error = new EmulatorError(code as EmulatorErrorCode, "why", { Allow: "GET" });
    const { serviceCode, status } = expected;
    expect(toErrorResponse(error)).toEqual({
      status,
      headers: { Allow: "GET" },
      body: {
        code: serviceCode,
        message: "why",
        more_info: `https://docs.example.test/errors/${serviceCode}`,
        status,
      },
    });
  });

  it("reports a fault of the emulator as a warning and shows nothing of it", () => {
    const warn = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const response = toErrorResponse(new RangeError("inside"));
    expect(response).toMatchObject({ status: 500, body: { code: 20500, status: 500 } });
    expect(JSON.stringify(response)).not.toContain("inside");
    const type = { type: "EmulatorWarning" };
    expect(warn.mock.calls).toEqual([[expect.stringContaining("RangeError: inside"), type]]);
    warn.mockRestore();
  });
});
