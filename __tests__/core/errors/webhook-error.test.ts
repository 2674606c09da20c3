import { inspect } from "node:util";
import { WebhookError, type WebhookErrorCode } from "express-push-verification";
import { toRejection } from "../../../lib/core/receiver/response";
import { words } from "../../support/attacker-texts";

describe("WebhookError", () => {
  it.each([
    ["METHOD_NOT_ALLOWED", { Allow: "POST, GET" }],
    ["CLOSING", { "Retry-After": "5" }],
    ["PAYLOAD_INVALID", {}],
  ] as const)("has the response of its code: %s", (code, headers) => {
    const error = new WebhookError(code, "", { cause: "inside", methods: ["POST", "GET"] });
    expect(error).toMatchObject({ cause: "inside", expose: false });
    expect(error.headers).toEqual(headers);
  });

  it.each([
    [400, "PAYLOAD_INVALID PAYLOAD_AMBIGUOUS BODY_MALFORMED CHALLENGE_SID_INVALID"],
    [403, "SIGNATURE_MISSING SIGNATURE_MALFORMED SIGNATURE_MISMATCH ACCOUNT_NOT_ALLOWED"],
    [403, "NOT_CONFIRMED ENTITY_MISMATCH"],
    [405, "METHOD_NOT_ALLOWED"],
    [408, "BODY_TIMEOUT"],
    [413, "BODY_TOO_LARGE"],
    [415, "CONTENT_TYPE_UNSUPPORTED"],
    [500, "BODY_CONSUMED HANDLER_FAILED HANDLER_TIMEOUT INTERNAL_ERROR"],
    [503, "TOKEN_UNAVAILABLE STORE_UNAVAILABLE CONFIRM_UNAVAILABLE OVERLOADED CLOSING"],
    [504, "CHALLENGE_TIMEOUT"],
  ])("has the status %i with the codes %s", (status, codes) => {
    for (const code of words(codes) as WebhookErrorCode[])
      expect(new WebhookError(code, "")).toHaveProperty("status", status);
  });

  it.each([
    ["SIGNATURE_MISMATCH", "BODY_CONSUMED"],
    ["BODY_MALFORMED", "BODY_CONSUMED"],
    ["PAYLOAD_INVALID", "PAYLOAD_INVALID"],
  ] as const)("of a body that may be a part is the fault of its reader: %s", (code, expected) => {
    const error = new WebhookError(code, "");
    const incompleteBody = new WebhookError("BODY_CONSUMED", "");
    expect(toRejection(error, { incompleteBody })).toHaveProperty("code", expected);
    expect(toRejection(error, { incompleteBody: undefined })).toBe(error);
  });

  it.each([10, undefined])("omits frames below 500 without a change of the limit %s", (limit) => {
    const before = Error.stackTraceLimit;
    Object.assign(Error, { stackTraceLimit: limit });
    const { stack } = new WebhookError("SIGNATURE_MISSING", "what to change");
    const after = Error.stackTraceLimit;
    Error.stackTraceLimit = before;
    expect(stack).toBe("WebhookError: what to change");
    expect(after).toBe(limit);
  });

  it("has stack frames from 500 on", () => {
    const appCode = () => new WebhookError("HANDLER_FAILED", "what to change");
    expect(appCode().stack).toMatch(/^WebhookError: what to change\n {4}at .*\bappCode\b/);
  });

  it("does not expose the function that explains", () => {
    const explain = jest.fn();
    const error = new WebhookError("SIGNATURE_MISMATCH", "", { explain });
    expect(inspect(error, { showHidden: true, getters: true })).not.toContain("[Function");
    expect(explain).not.toHaveBeenCalled();
  });

  it("explains on demand once the budget allows it", () => {
    const report = {} as never;
    const explain = jest.fn().mockReturnValueOnce(undefined).mockReturnValue(report);
    const error = new WebhookError("SIGNATURE_MISMATCH", "", { explain });
    const explained = [error.explain(), error.explain(), error.explain()];
    expect(explained).toEqual([undefined, report, report]);
    expect(explain).toHaveBeenCalledTimes(2);
    expect(new WebhookError("SIGNATURE_MISSING", "").explain()).toBeUndefined();
  });
});
