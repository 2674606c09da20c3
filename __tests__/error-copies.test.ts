import { expectTypeOf } from "expect-type";
import { WebhookError, PermanentError } from "express-push-verification";
import { ApiError, InputError, type ApiErrorCode } from "express-push-verification/admin";
import { QueueError } from "express-push-verification/durable";
import { EmulatorError, type EmulatorErrorCode } from "express-push-verification/emulator";
import { loadCopy } from "./support/package-copy";
import { createReceiver } from "./support/receivers";
import { eventRequest, toWebRequest } from "./support/webhook-requests";

describe("an error of another copy of the package", () => {
  const copy = loadCopy();
  const outcomes = { record: () => {}, wait: () => new Promise<never>(() => {}) };

  it.each([
    [new copy.WebhookError("STORE_UNAVAILABLE", "down"), 503, "5"],
    [Object.assign(new Error("x"), { code: "STORE_UNAVAILABLE" }), 500, null],
  ])("keeps its status when a queue rejects with it: %s", async (error, status, retryAfter) => {
    const store = async () => {
      throw error;
    };
    const { push } = createReceiver({ queue: { store, outcomes } });
    const response = await push.fetch(toWebRequest(eventRequest("factor.created")));
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
  });
});

describe("the public errors", () => {
  const api = { code: "SERVICE_ERROR", serviceCode: 20404, status: 404 } as const;
  const request = { method: "GET", path: "/keys" };
  const issues = [{ path: "sid", message: "is too short" }];
  /** An error of each class, its JSON, and the file of its class. */
  const timeout = { code: "TIMEOUT", status: 0 } as const;
  const notFound = { code: "NOT_FOUND", serviceCode: 20404, status: 404 } as const;
  const input = { code: "INVALID_INPUT", message: "key: sid: is too short" };
  const failed = { code: "HANDLER_FAILED", status: 500 } as const;
  const redis = { code: "REDIS_NOT_DURABLE" } as const;
  const ERRORS: [error: Error, json: object, file: string][] = [
    [new WebhookError(failed.code, "message"), failed, "core/errors/webhook-error"],
    [new PermanentError("message"), {}, "core/errors/permanent-error"],
    [new ApiError("message", { ...api, ...request }), api, "admin/client/api-error"],
    [new ApiError("message", { ...timeout, ...request }), timeout, "admin/client/api-error"],
    [new InputError("key", issues), input, "admin/client/input-error"],
    [new EmulatorError("NOT_FOUND", "message"), notFound, "emulator/emulator-error"],
    [new QueueError(redis.code, "message"), redis, "durable/queue-error"],
  ];

  it.each(ERRORS)("have JSON without a cause: %s", (error, json) => {
    const { name } = error.constructor;
    expect(error.name).toBe(name);
    expect(Object.hasOwn(error, "name")).toBe(false);
    // Enumerable, as an app may assign it.
    Object.assign(error, { cause: Object.assign(new Error("hush"), { password: "hush" }) });
    expect(JSON.parse(JSON.stringify(error))).toEqual({ name, message: "message", ...json });
  });

  it.each(ERRORS)("are known by any copy: %s", (error, _json, file) => {
    const { name } = error.constructor;
    let classes: Record<string, typeof Error> = {};
    jest.isolateModules(() => (classes = require(`../lib/${file}`) as typeof classes));
    const Other = classes[name]!;
    expect(Other).not.toBe(error.constructor);
    const all: unknown[] = [new TypeError("x"), {}, null, "x", ...ERRORS.map(([one]) => one)];
    const known = all.filter((value) => (value as object) instanceof Other);
    expect(known).toEqual(ERRORS.flatMap(([one]) => (one.name === name ? [one] : [])));
  });

  it("have literal codes and names", () => {
    type Codes = [ApiError["code"], InputError["code"], EmulatorError["code"]];
    expectTypeOf<Codes>().toEqualTypeOf<[ApiErrorCode, "INVALID_INPUT", EmulatorErrorCode]>();
    expectTypeOf<ApiError["name"]>().toEqualTypeOf<"ApiError">();
    expectTypeOf<ApiError["serviceCode"]>().toEqualTypeOf<number | undefined>();
    expect(new InputError("key", issues)).toBeInstanceOf(TypeError);
    // @ts-expect-error: misspelt code
    void new ApiError("x", { ...api, ...request, code: "TIME_OUT" });
  });
});
