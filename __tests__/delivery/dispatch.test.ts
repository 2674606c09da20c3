import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createDispatch } from "../../lib/delivery/dispatch";
import { createReporter } from "../../lib/observability/reporter";

const event = eventFixture("challenge.approved");
const context = { attempt: 3, authTokenIndex: 0, publicUrlIndex: 0, receiver: undefined };
const run = { type: event.type, attempt: 3, durationMs: expect.any(Number) };

/** The published messages of a test. */
const published: [name: string, message: object][] = [];
const names = ["handled", "unhandled", "failed"].map((name) => `express-push-verification:${name}`);
const listener = (message: unknown, name: string | symbol) =>
  void published.push([String(name).split(":")[1] ?? "", message as object]);
beforeEach(() => {
  published.splice(0);
  for (const name of names) subscribe(name, listener);
});
afterEach(() => {
  for (const name of names) unsubscribe(name, listener);
});

describe("createDispatch", () => {
  it("publishes an event that was handled", async () => {
    const handlers = createHandlers().on("challenge.approved", () => {});
    await createDispatch(handlers, createReporter(undefined))(event, context, 1_000);
    expect(published).toEqual([["handled", run]]);
  });

  it("publishes and logs an event without a handler as unhandled, never as handled", async () => {
    const warn = jest.fn();
    const logger = { debug() {}, info() {}, warn, error() {} };
    const handlers = createHandlers()
      .on("factor.created", () => {})
      .onAny(() => {});
    await createDispatch(handlers, createReporter(logger, "login"))(event, context, 1_000);
    expect(published).toEqual([["unhandled", { type: event.type }]]);
    expect(warn.mock.calls).toEqual([
      [{ receiver: "login", type: event.type, uuid: event.uuid }, expect.any(String)],
    ]);
  });

  it("publishes and reports an event whose handlers failed, and rejects", async () => {
    const reports = createReporter(undefined);
    const onError = jest.fn();
    reports.onError(onError);
    const handlers = createHandlers().on("challenge.approved", () =>
      Promise.reject(new Error("no")),
    );
    const dispatched = createDispatch(handlers, reports)(event, context, 1_000);
    await expect(dispatched).rejects.toHaveProperty("code", "HANDLER_FAILED");
    expect(published).toEqual([["failed", { ...run, code: "HANDLER_FAILED" }]]);
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ code: "HANDLER_FAILED" }),
      event,
    );
  });
});
