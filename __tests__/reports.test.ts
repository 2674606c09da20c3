import { WebhookError, type Logger, type WebhookErrorCode } from "express-push-verification";
import { parsePayload } from "../lib/payload";
import { createReports } from "../lib/reports";
import { callParams } from "./support/calls";

const event = parsePayload(callParams("challenge.approved"));
const request = { method: "POST", path: "/push", remoteAddress: "::1" };
const errorOf = (code: WebhookErrorCode) => new WebhookError(code, "what to change");
const tick = () => new Promise((resolve) => setImmediate(resolve));

function recordingLogger() {
  const lines: [level: string, fields: object, message: string][] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message]);
  const logger: Logger = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
  return { logger, lines };
}

describe("createReports", () => {
  let warnings: jest.SpyInstance;
  beforeEach(() => {
    warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  });
  afterEach(() => warnings.mockRestore());

  it("tells every listener", () => {
    const reports = createReports(undefined);
    const [onError, onRejected] = [jest.fn(), jest.fn()];
    reports.onError(onError);
    reports.onRejected(onRejected);
    const [failed, refused] = [errorOf("HANDLER_FAILED"), errorOf("SIGNATURE_MISMATCH")];
    reports.error(failed, event);
    reports.rejected(refused, request, 1);
    expect(onError.mock.calls).toEqual([[failed, event]]);
    expect(onRejected.mock.calls).toEqual([[refused, request]]);
    expect(warnings).not.toHaveBeenCalled();
  });

  it.each<[WebhookErrorCode, isFailure: boolean]>([
    ["STORE_UNAVAILABLE", true],
    ["TOKEN_UNAVAILABLE", true],
    ["OVERLOADED", true],
    ["BODY_CONSUMED", true],
    ["INTERNAL_ERROR", true],
    ["CLOSING", false],
    ["SIGNATURE_MISMATCH", false],
    ["BODY_TIMEOUT", false],
  ])("reports a request rejected with %s to onError and logs err: %s", (code, isFailure) => {
    const { logger, lines } = recordingLogger();
    const reports = createReports(logger);
    const [onError, onRejected] = [jest.fn(), jest.fn()];
    reports.onError(onError);
    reports.onRejected(onRejected);
    const error = errorOf(code);
    reports.rejected(error, request, 1);
    expect(onRejected.mock.calls).toEqual([[error, request]]);
    expect(onError.mock.calls).toEqual(isFailure ? [[error]] : []);
    expect(lines).toHaveLength(1);
    expect(Object.entries(lines[0]?.[1] ?? {}).filter(([name]) => name === "err")).toEqual(
      isFailure ? [["err", error]] : [],
    );
  });

  it.each<["onError" | "onRejected"]>([["onError"], ["onRejected"]])(
    "emits no warning for a failure that a listener of %s receives",
    (method) => {
      const reports = createReports(undefined);
      reports[method](() => {});
      reports.rejected(errorOf("STORE_UNAVAILABLE"), request, 1);
      expect(warnings).not.toHaveBeenCalled();
    },
  );

  it.each<[WebhookErrorCode, string]>([
    ["SIGNATURE_MISMATCH", "warn"],
    ["PAYLOAD_INVALID", "warn"],
    ["CLOSING", "warn"],
    ["BODY_CONSUMED", "error"],
    ["STORE_UNAVAILABLE", "error"],
  ])("logs a refusal with %s as %s", (code, level) => {
    const { logger, lines } = recordingLogger();
    createReports(logger).rejected(errorOf(code), request, 1);
    expect(lines).toEqual([
      [level, expect.objectContaining({ code, ...request }), "what to change"],
    ]);
  });

  it("logs type and uuid of an event, and nothing else of it", () => {
    const { logger, lines } = recordingLogger();
    const reports = createReports(logger);
    const error = errorOf("HANDLER_FAILED");
    reports.taken(event, "new");
    reports.taken(event, "duplicate");
    reports.taken(event, "conflict");
    reports.error(error, event);
    const identity = { type: event.type, uuid: event.uuid };
    expect(lines).toEqual([
      ["debug", { ...identity, outcome: "new" }, expect.any(String)],
      ["debug", { ...identity, outcome: "duplicate" }, expect.any(String)],
      ["warn", { ...identity, outcome: "conflict" }, expect.any(String)],
      ["error", { ...identity, code: "HANDLER_FAILED", err: error }, "what to change"],
    ]);
  });

  it("survives listeners and loggers that throw or reject, and says so", async () => {
    const broken = () => {
      throw new RangeError("broken");
    };
    const reports = createReports({ debug: broken, info: broken, warn: broken, error: broken });
    const last = jest.fn();
    reports.onError(broken);
    reports.onError(() => Promise.reject("no Error"));
    reports.onError(last);
    reports.error(errorOf("HANDLER_FAILED"));
    reports.taken(event, "new");
    await tick();
    expect(last).toHaveBeenCalledTimes(1);
    expect(warnings.mock.calls.map(([, { code }]) => code)).toEqual(
      Array(4).fill("LISTENER_FAILED"),
    );
  });

  it("warns once a code of what nobody would hear of", () => {
    const reports = createReports(undefined);
    for (const code of ["HANDLER_FAILED", "HANDLER_FAILED", "HANDLER_TIMEOUT"] as const) {
      reports.error(errorOf(code), event);
    }
    for (const code of ["BODY_CONSUMED", "SIGNATURE_MISMATCH", "CLOSING"] as const) {
      reports.rejected(errorOf(code), request, 1);
    }
    expect(warnings.mock.calls.map(([, { code }]) => code)).toEqual([
      "HANDLER_FAILED",
      "HANDLER_TIMEOUT",
      "BODY_CONSUMED",
    ]);
  });

  it("does not warn of what a logger hears", () => {
    const reports = createReports(recordingLogger().logger);
    reports.error(errorOf("HANDLER_FAILED"), event);
    expect(warnings).not.toHaveBeenCalled();
  });
});
