import type { IncomingMessage } from "node:http";
import { inspect } from "node:util";
import express from "express";
import {
  pushWebhooks,
  type PushWebhooksOptions,
  type WebhookError,
} from "express-push-verification";
import { createReceiver, silent } from "../support/receivers";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../support/webhook-requests";
import { PATH, send, SERVERS, startServer, stopServers } from "../support/servers";

const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

afterEach(stopServers);

describe("pushWebhooks", () => {
  it("has methods that can be chained", () => {
    const handler = () => {};
    const push = pushWebhooks(options).on("factor.created", handler).onAny(handler);
    expect(push.off("factor.created", handler).onError(handler).onRejected(handler)).toBe(push);
    expect(push.onUnhandled(handler)).toBe(push);
  });

  it("shows no user information of publicUrl when it is inspected", () => {
    const publicUrl = "https://bot:hush@hooks.example.test/push/events#rc=2";
    const push = pushWebhooks({ ...options, publicUrl });
    expect(inspect(push)).not.toContain("hush");
    expect(inspect(push, { depth: 10, showHidden: true })).not.toContain("hush");
    expect(inspect({ ...push })).not.toContain("hush");
    expect(push.publicUrl).toBe(publicUrl);
  });

  it("passes authTokenIndex and attempt 1 to handlers", async () => {
    const { push, receive } = createReceiver({ authToken: ["next", AUTH_TOKEN], name: "login" });
    const contexts: object[] = [];
    push.onAny((_event, context) => void contexts.push(context));
    await receive(eventRequest("factor.created"));
    const signal: unknown = expect.any(AbortSignal);
    expect(contexts).toEqual([
      { attempt: 1, authTokenIndex: 1, publicUrlIndex: 0, receiver: "login", signal },
    ]);
  });

  it("passes onRejected a request without data that identifies a user", async () => {
    const push = pushWebhooks({ ...options, methods: ["POST", "GET"] });
    const rejected: object[] = [];
    push.onRejected((error, request) => void rejected.push({ code: error.code, ...request }));
    const app = express().use(PATH, push);
    const port = await startServer(app);
    const request = eventRequest("factor.created", {}, { method: "GET" });
    await send(port, { ...request, path: `${request.path}&x=1` });
    expect(rejected).toEqual([
      { code: "SIGNATURE_MISMATCH", method: "GET", path: PATH, remoteAddress: "127.0.0.1" },
    ]);
  });

  it.each<[methods: PushWebhooksOptions["methods"], post: number, get: number, allow: string]>([
    [undefined, 200, 405, "POST"],
    [["POST"], 200, 405, "POST"],
    [["POST", "GET"], 200, 200, "POST, GET"],
    [["GET"], 405, 200, "GET"],
  ])("accepts the methods %j", async (methods, post, get, allow) => {
    const { push, receive } = createReceiver({ methods });
    expect(await receive(eventRequest("factor.created"))).toBe(post);
    expect(await receive(eventRequest("factor.created", {}, { method: "GET" }))).toBe(get);
    const { status, headers } = await push.fetch(new Request(PUBLIC_URL, { method: "PUT" }));
    expect([status, headers.get("allow")]).toEqual([405, allow]);
  });

  it.each(["POST", "GET"] as const)(
    "uses the configured URL for any mount path: %s",
    async (method) => {
      const publicUrl = `${PUBLIC_URL}?tenant=blue`;
      const { push } = createReceiver({ publicUrl });
      const port = await startServer(
        express().use("/behind", express.Router().use("/a/proxy", push)),
      );
      const request = eventRequest("factor.created", {}, { method, publicUrl });
      const path = request.path.replace(PATH, "/behind/a/proxy/and/further");
      const headers = { ...request.headers, "x-forwarded-host": "spoofed.example" };
      expect(await send(port, { ...request, path, headers })).toHaveProperty("status", 200);
    },
  );

  it.each(["open", "closed"])("does not reject when next throws, %s", async (state) => {
    const { push, failed } = createReceiver({ forwardErrors: true });
    if (state === "closed") await push.close();
    const next = () => {
      throw new Error("an error handler of the app failed");
    };
    let responded: unknown;
    const port = await startServer((req, res) => void (responded = push(req, res, next)));
    await expect(send(port, { ...eventRequest("factor.created"), headers: {} })).rejects.toThrow();
    await expect(responded).resolves.toBeUndefined();
    expect(failed).toEqual(["INTERNAL_ERROR"]);
  });

  it("does not change a response that another middleware has started", async () => {
    const push = pushWebhooks(options);
    const port = await startServer((req, res) => {
      res.end("mine");
      void push(req, res);
    });
    expect(await (await send(port, eventRequest("factor.created"))).text()).toBe("mine");
  });

  it("responds 500 when a property of the request throws", async () => {
    const push = pushWebhooks({ ...options, logger: silent });
    const errors: WebhookError[] = [];
    push.onRejected((error) => void errors.push(error));
    const broken = Object.assign(new RangeError("a getter failed"), { body: "hush" });
    const port = await startServer((req, res) => {
      Object.defineProperty(req, "rawBody", {
        get: () => {
          throw broken;
        },
      });
      void push(req, res);
    });
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 500);
    expect(errors).toMatchObject([
      { code: "INTERNAL_ERROR", cause: { name: "RangeError", message: broken.message } },
    ]);
    expect(inspect(errors, { depth: 10, showHidden: true })).not.toContain("hush");
  });

  it("retries for 8 s while its store is down, then responds 503", async () => {
    jest.useFakeTimers();
    const down = (...args: unknown[]) =>
      Promise.reject(Object.assign(new Error("down"), { parameters: args }));
    const reported: unknown[] = [];
    const dedupe = { claim: down, complete: down, release: down };
    const push = pushWebhooks({ ...options, dedupe, logger: silent });
    push.onAny(() => {
      throw new Error("must not run");
    });
    push.onRejected((...report) => void reported.push(report));
    const sent = push.fetch(toWebRequest(eventRequest("factor.created")));
    await jest.advanceTimersByTimeAsync(7_000);
    expect(reported).toEqual([]);
    await jest.advanceTimersByTimeAsync(1_000);
    const response = await sent;
    jest.useRealTimers();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.text()).toBe("Service Unavailable\n");
    const text = inspect(reported, { depth: 10, showHidden: true });
    expect(text).toMatch(/cause.*Error: down/);
    expect(text).not.toContain("parameters");
  });

  it.each(SERVERS)("responds on %s after a res whose methods throw", async (_name, listenerOf) => {
    const { push, failed } = createReceiver();
    const port = await startServer(
      listenerOf(push, (_req, res, next) => {
        res.writeHead = () => {
          throw new Error("headers are mine");
        };
        next();
      }),
    );
    for (const request of [
      eventRequest("factor.created"),
      { ...eventRequest("factor.created"), body: "" },
    ]) {
      await expect(send(port, request)).rejects.toThrow("fetch failed");
    }
    expect(failed).toEqual(["INTERNAL_ERROR", "INTERNAL_ERROR"]);
  });

  it("shows no secret and no user data in log lines, errors and responses", async () => {
    const seen: string[] = [];
    const record = (fields: object, message: string) =>
      void seen.push(
        message,
        JSON.stringify(fields, (_key, value: unknown) => describeError(value)),
      );
    const logger = { debug: record, info: record, warn: record, error: record };
    const port = await startServer((req: IncomingMessage, res) => {
      const push = pushWebhooks({ ...options, logger });
      push.onRejected(
        (error, request) => void seen.push(JSON.stringify([describeError(error), request])),
      );
      push.on("challenge.denied", () => Promise.reject(new Error("no")));
      void push(req, res);
    });
    const secret = { entity_identity: "hush-identity", factor_friendly_name: "hush-name" };
    const metadata = { factor_metadata: "{hush-metadata", challenge_details: "[hush-details" };
    const good = eventRequest("challenge.approved", { ...secret, ...metadata });
    const requests = [
      good,
      eventRequest("challenge.denied", secret),
      eventRequest("challenge.approved", { ...secret, factor_sid: "hush-sid" }),
      eventRequest("challenge.approved", secret, { authToken: "another" }),
      eventRequest("challenge.approved", secret, { method: "GET", authToken: "another" }),
      { ...good, body: `${good.body}%zz` },
      { ...good, headers: { ...good.headers, "content-type": "hush/type" } },
    ];
    for (const request of requests) {
      const response = await send(port, request);
      seen.push(await response.text(), JSON.stringify([...response.headers]));
    }
    expect(seen.length).toBeGreaterThan(requests.length * 3);
    const all = seen.join("\n");
    expect(all).not.toContain("hush");
    expect(all).not.toContain(AUTH_TOKEN);
    for (const request of requests)
      expect(all).not.toContain(request.headers["x-service-signature"]);
  });
});

/** The text of an error that a logger would write. */
function describeError(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return {
    ...value,
    message: value.message,
    stack: value.stack,
    cause: describeError(value.cause),
  };
}
