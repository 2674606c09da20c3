import { Console } from "node:console";
import { WebhookError, type Logger, type WebhookErrorCode } from "express-push-verification";
import { parseEvent } from "../../../lib/core/event/parse";
import { Reporter } from "../../../lib/core/observability/reporter";
import { useChannels } from "../../support/channels";
import { loggerOf, silent } from "../../support/receivers";
import { nextTurn } from "../../support/waiting";
import { useWarnings } from "../../support/warnings";
import { eventPairs } from "../../support/webhook-requests";

const event = parseEvent(eventPairs("challenge.approved"));
const request = { method: "POST", path: "/push", remoteAddress: "::1" };
const cause = { code: "URL_PATH", isProven: false, subject: "/", explanation: "Why.", fix: "How." };
const explain = () => ({ causes: [cause] }) as never;
const errorOf = (code: WebhookErrorCode) =>
  new WebhookError(code, "what to change", { explain, parameter: parameterOf(code) });
const parameterOf = (code: string) => (code === "PAYLOAD_AMBIGUOUS" ? "zone" : undefined);
const noCapture = () => undefined;

function recordingLogger() {
  const lines: [level: string, fields: object, message: string][] = [];
  const at = (level: string): Logger["warn"] => {
    return (fields, message) => void lines.push([level, fields, message]);
  };
  return { logger: { ...silent, debug: at("debug"), warn: at("warn"), error: at("error") }, lines };
}

const warnings = useWarnings();

const ERRORS: [WebhookErrorCode, level: "warn" | "error", isFailure: boolean][] = [
  ["BODY_CONSUMED", "error", true],
  ["CLOSING", "warn", false],
  ["SIGNATURE_MISMATCH", "warn", false],
  ["PAYLOAD_AMBIGUOUS", "error", false],
];
const published = useChannels("rejected", "duplicate", "conflict");

it("logs and publishes a rejection with its cause once in 60 s, each code by itself", () => {
  const now = jest.spyOn(performance, "now").mockReturnValue(0);
  const { logger, lines } = recordingLogger();
  const reports = new Reporter(logger);
  for (const [code, level, isFailure] of ERRORS) {
    const error = errorOf(code);
    const { status } = error;
    const names = { code, status, ...(code === "PAYLOAD_AMBIGUOUS" && { parameter: "zone" }) };
    for (const [atMs, isExplained] of [
      [0, true],
      [59_999, false],
      [60_000, true],
    ] as const) {
      now.mockReturnValue(atMs);
      reports.rejected(error, request, 7, noCapture);
      const explained = level === "warn" && isExplained;
      const more = explained ? { cause: "URL_PATH", subject: "/", fix: "How." } : {};
      const fields = { ...names, ...request, ...more, ...(isFailure && { err: error }) };
      expect(lines.at(-1)).toEqual([level, fields, "what to change"]);
      expect(published.at(-1)).toEqual(["rejected", { ...names, durationMs: 7 }]);
    }
  }
  now.mockRestore();
  expect(warnings.list()).toEqual([]);
});

it.each(ERRORS)("reports %s of level %s to onError: %j", (code, _level, isFailure) => {
  const reports = new Reporter(silent);
  const [onError, onRejected] = [jest.fn(), jest.fn()];
  reports.onError(onError);
  reports.onRejected(onRejected);
  const error = errorOf(code);
  reports.rejected(error, request, 1, noCapture);
  expect(onRejected.mock.calls).toEqual([[error, request, noCapture]]);
  expect(onError.mock.calls).toEqual(isFailure ? [[error]] : []);
});

it.each([
  ["the global console", console],
  ["another console", new Console(process.stdout)],
])("prints the message before the fields on %s", (_what, logger) => {
  const printed = jest.spyOn(logger, "error").mockImplementation(() => {});
  const error = errorOf("HANDLER_FAILED");
  new Reporter(logger, { receiver: "login" }).error(error);
  const fields = { receiver: "login", code: "HANDLER_FAILED", err: error };
  expect(printed.mock.calls).toEqual([["what to change", fields]]);
  printed.mockRestore();
});

it("logs only the type and uuid of an event, without control characters", () => {
  const { logger, lines } = recordingLogger();
  const reports = new Reporter(logger);
  const type = "a\n";
  const odd = { ...event, type, uuid: "b\u202e" } as never;
  const error = errorOf("HANDLER_FAILED");
  for (const result of ["new", "duplicate", "conflict"] as const) reports.delivered(odd, result);
  reports.error(error, odd);
  expect(published).toEqual([
    ["duplicate", { type }],
    ["conflict", { type }],
  ]);
  const identity = { type: "a\\u000a", uuid: "b\\u202e" };
  expect(lines).toEqual([
    ["debug", { ...identity, result: "new" }, expect.any(String)],
    ["debug", { ...identity, result: "duplicate" }, expect.any(String)],
    ["warn", { ...identity, result: "conflict" }, expect.any(String)],
    ["error", { ...identity, code: "HANDLER_FAILED", err: error }, "what to change"],
  ]);
});

it("continues after a listener or logger that fails, with one warning of each", async () => {
  const broken = () => {
    throw new RangeError("hush");
  };
  const reports = new Reporter(loggerOf(broken));
  const last = jest.fn();
  reports.onError(broken);
  reports.onError(() => Promise.reject("hush"));
  reports.onError(last);
  reports.onRejected(broken);
  reports.onRejected(last);
  for (let times = 0; times < 10; times++) {
    reports.error(errorOf("HANDLER_FAILED"));
    reports.rejected(errorOf("STORE_UNAVAILABLE"), request, 1, noCapture);
    reports.delivered(event, "new");
    await nextTurn();
  }
  expect(last).toHaveBeenCalledTimes(30);
  expect(warnings.listCodes()).toEqual(Array(3).fill("LISTENER_FAILED"));
  const texts = warnings.listMessages();
  expect(texts.filter((text) => text.includes("RangeError"))).toHaveLength(2);
  expect(texts.filter((text) => text.includes("not an Error"))).toHaveLength(1);
  expect(texts.join()).not.toContain("hush");
});

it("warns once per code about failures without a listener, with their cause", () => {
  const reports = new Reporter(undefined);
  for (const code of ["HANDLER_FAILED", "HANDLER_FAILED", "HANDLER_TIMEOUT"] as const) {
    reports.error(new WebhookError(code, "what to change", { cause: new Error("no") }), event);
  }
  for (const code of ["BODY_CONSUMED", "SIGNATURE_MISMATCH", "CLOSING"] as const) {
    reports.rejected(errorOf(code), request, 1, noCapture);
  }
  expect(warnings.listCodes()).toEqual([
    "HANDLER_FAILED",
    "HANDLER_TIMEOUT",
    "BODY_CONSUMED",
    "SIGNATURE_MISMATCH",
  ]);
  const [failed] = warnings.list().map(([, { detail }]) => detail);
  expect(failed).toMatch(/^Error: no\n {4}at .*reporter\.test/);
  for (const method of ["onError", "onRejected"] as const) {
    const heard = new Reporter(undefined);
    heard[method](() => {});
    heard.rejected(errorOf("STORE_UNAVAILABLE"), request, 1, noCapture);
  }
  expect(warnings.list()).toHaveLength(4);
});
