import type * as Package from "express-push-verification";
import { pushWebhooks, WebhookError, PermanentError } from "express-push-verification";
import { ApiError, InputError } from "express-push-verification/admin";
import { QueueError } from "express-push-verification/durable";
import { EmulatorError } from "express-push-verification/emulator";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "./support/webhook-requests";
import { send, startServer, stopServers } from "./support/servers";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Loads the package again, as a second installed copy does. */
function loadCopy(): typeof Package {
  let copy!: typeof Package;
  jest.isolateModules(() => {
    copy = require("express-push-verification") as typeof copy;
  });
  return copy;
}

afterEach(stopServers);

describe("an error of another copy of the package", () => {
  it.each(["STORE_UNAVAILABLE", "OVERLOADED", "CLOSING"] as const)(
    "keeps its status when a queue rejects with it: %s",
    async (code) => {
      const copy = loadCopy();
      expect(copy.WebhookError).not.toBe(WebhookError);
      const push = pushWebhooks({
        authToken: AUTH_TOKEN,
        publicUrl: PUBLIC_URL,
        logger: silent,
        queue: {
          store: () => Promise.reject(new copy.WebhookError(code, "the queue is down")),
          outcomes: { record: () => {}, wait: () => new Promise(() => {}) },
        },
      });
      const rejected: unknown[] = [];
      push.onRejected((error) => void rejected.push(error));
      const port = await startServer((req, res) => void push(req, res));
      const response = await send(port, eventRequest("factor.created"));
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(rejected).toMatchObject([{ code, message: "the queue is down" }]);
    },
  );

  it("is rejected with INTERNAL_ERROR when it is not a WebhookError", async () => {
    const push = pushWebhooks({
      authToken: AUTH_TOKEN,
      publicUrl: PUBLIC_URL,
      logger: silent,
      queue: {
        store: () => Promise.reject(Object.assign(new Error("x"), { code: "STORE_UNAVAILABLE" })),
        outcomes: { record: () => {}, wait: () => new Promise(() => {}) },
      },
    });
    const port = await startServer((req, res) => void push(req, res));
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 500);
  });
});

describe("the public errors", () => {
  const api = { code: "TIMEOUT", status: 0, method: "GET", path: "/keys" } as const;
  it.each<Error>([
    new WebhookError("HANDLER_FAILED", "message"),
    new PermanentError("message"),
    new ApiError("message", api),
    new InputError("key", [{ path: "sid", message: "message" }]),
    new EmulatorError("NOT_FOUND", "message"),
    new QueueError("REDIS_NOT_DURABLE", "message"),
  ])("never write their cause as JSON: $name", (error) => {
    const cause = Object.assign(new Error("hush"), { password: "hush" });
    // Enumerable, as an app may assign it.
    Object.assign(error, { cause });
    const json = JSON.stringify({ error });
    expect(json).not.toContain("hush");
    expect(json).toContain("message");
  });
});

it("has no method that makes connect treat it as an app", () => {
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
  expect("handle" in push).toBe(false);
});
