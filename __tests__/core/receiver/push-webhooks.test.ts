import { tracingChannel } from "node:diagnostics_channel";
import { inspect } from "node:util";
import express from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { createMemoryOutcomes } from "../../../lib/core/delivery/memory-outcomes";
import { inspectReceiver, type ObservedRequest } from "../../../lib/core/receiver/inspection";
import { useChannels } from "../../support/channels";
import { createReceiver, loggerOf } from "../../support/receivers";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../../support/webhook-requests";
import { PATH, send, startServer, stopServers } from "../../support/servers";
import { useWarnings } from "../../support/warnings";

const confirm = () => true;
const accountOf = (digit: string) => `AC${digit.repeat(32)}`;
const createQueue = () => ({
  store: async () => "new" as const,
  outcomes: createMemoryOutcomes(),
});
const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

const warnings = useWarnings();
const received = useChannels("received");
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
    expect(inspect(push, { depth: 10, showHidden: true })).not.toContain("hush");
    expect(inspect({ ...push })).not.toContain("hush");
    expect(push.publicUrl).toBe(publicUrl);
  });

  it("has its URLs and methods, which no app can change", () => {
    const publicUrl = [PUBLIC_URL, "https://other.example.test/"];
    const push = pushWebhooks({ ...options, publicUrl, methods: ["GET", "GET"] });
    const { publicUrls, methods } = push;
    expect([push.publicUrl, publicUrls, methods]).toEqual([PUBLIC_URL, publicUrl, ["GET"]]);
    expect([publicUrls, methods].map(Object.isFrozen)).toEqual([true, true]);
  });

  it("passes onRejected a request without data that identifies a user", async () => {
    const { push } = createReceiver();
    const [rejected, observer] = [jest.fn(), jest.fn()];
    push.onRejected((_error, request, capture) => rejected(request, capture()));
    inspectReceiver(push)?.observe(observer);
    const port = await startServer(express().use(PATH, push));
    const request = eventRequest("factor.created", {}, { method: "GET" });
    const url = `${request.path}&x=1`;
    await send(port, { ...request, path: url });
    const remoteAddress = "127.0.0.1";
    const headers: unknown = expect.arrayContaining(Object.entries(request.headers));
    const captured = { method: "GET", url, headers, body: "" };
    expect(rejected.mock.calls).toEqual([[{ method: "GET", path: PATH, remoteAddress }, captured]]);
    const [[observed]] = observer.mock.calls as [[ObservedRequest]];
    expect(observed.readSender().address).toBe(remoteAddress);
  });

  it.each<[PushWebhooksOptions["methods"], post: number, get: number, allow: string]>([
    [undefined, 200, 405, "POST"],
    [["POST", "GET"], 200, 200, "POST, GET"],
    [["GET"], 405, 200, "GET"],
  ])("accepts the methods %j", async (methods, post, get, allow) => {
    const { push, receive } = createReceiver({ methods });
    expect(await receive(eventRequest("factor.created"))).toBe(post);
    expect(await receive(eventRequest("factor.created", {}, { method: "GET" }))).toBe(get);
    const { status, headers } = await push.fetch(new Request(PUBLIC_URL, { method: "PUT" }));
    expect([status, headers.get("allow")]).toEqual([405, allow]);
  });

  it.each(["next", "writeHead"])("does not reject when %s throws", async (name) => {
    const { push, failed } = createReceiver({ forwardErrors: true });
    const fail = jest.fn((_given?: unknown) => {
      throw new Error("a function of the app failed");
    });
    let responded: unknown;
    const port = await startServer((req, res) => {
      if (name === "writeHead") res.writeHead = fail;
      responded = push(req, res, fail);
    });
    const good = eventRequest("factor.created");
    const request = name === "next" ? { ...good, headers: {} } : good;
    await expect(send(port, request)).rejects.toThrow("fetch failed");
    await expect(responded).resolves.toBeUndefined();
    expect(failed).toEqual(["INTERNAL_ERROR"]);
    const rejection: unknown = expect.objectContaining({ code: "SIGNATURE_MISSING" });
    expect(fail.mock.calls[0]?.[0]).toEqual(name === "next" ? rejection : 200);
  });

  it("does not change a response that another middleware has started", async () => {
    const push = pushWebhooks(options);
    const port = await startServer((req, res) => {
      res.end("mine");
      void push(req, res);
    });
    expect(await (await send(port, eventRequest("factor.created"))).text()).toBe("mine");
  });

  it("is a plain function of three parameters: restify rejects an async one", () => {
    const push = pushWebhooks(options);
    expect(push.constructor.name).toBe("Function");
    expect(push).toHaveLength(3);
  });

  it("responds 500 when a property of the request throws", async () => {
    const { push, errors } = createReceiver({ forwardErrors: true });
    const port = await startServer((req, res) => {
      const get = () => {
        throw Object.assign(new RangeError("a getter failed"), { body: "hush" });
      };
      void push(Object.defineProperty(req, "readableDidRead", { get }), res);
    });
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 500);
    const cause = { name: "RangeError", message: "a getter failed" };
    expect(errors).toMatchObject([{ code: "INTERNAL_ERROR", cause }]);
    expect(inspect(errors, { depth: 10, showHidden: true })).not.toContain("hush");
  });

  it("shows no secret or user data in log lines, errors or responses", async () => {
    const seen: string[] = [];
    const record = (...shown: unknown[]) => void seen.push(inspect(shown, { depth: 10 }));
    const push = pushWebhooks({ ...options, logger: loggerOf(record), methods: ["POST", "GET"] });
    push.onRejected(record).on("challenge.denied", () => Promise.reject(new Error("no")));
    const port = await startServer(push);
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
    const signatures = requests.map(({ headers }) => headers["x-service-signature"]);
    for (const text of ["hush", AUTH_TOKEN, ...signatures])
      expect(seen.join("\n")).not.toContain(text);
  });

  it("leaves its name in a queue to another receiver when it is closed", async () => {
    const queue = createQueue();
    const open = (authToken: string) => createReceiver({ queue, name: "login", authToken }).push;
    const first = open("a-token-of-the-first");
    await open("a-token-of-the-first").close();
    const openSecond = () => open("a-token-of-the-second");
    const closed = first.close();
    expect(openSecond).toThrow(/"login"/);
    await closed;
    openSecond();
  });

  it.each<Partial<PushWebhooksOptions>[]>([
    [{ allowedAccountSids: ["1", "2"].map(accountOf) }, { allowedAccountSids: [ACCOUNT_SID] }],
    [{ authToken: () => AUTH_TOKEN }, { authToken: () => AUTH_TOKEN }],
    [{}, { authToken: "another-token", publicUrl: ["https://new.example.test/push", PUBLIC_URL] }],
  ])(
    "with %j shares its name in a queue with an equal receiver, not with %j",
    (one = {}, other) => {
      const queue = createQueue();
      const allowedAccountSids = one.allowedAccountSids?.toReversed();
      for (const same of [one, { ...one, allowedAccountSids }]) createReceiver({ queue, ...same });
      expect(() => createReceiver({ queue, ...other })).toThrow("Give each receiver a name");
    },
  );

  it("responds when an observer throws", async () => {
    const { push, receive } = createReceiver();
    inspectReceiver(push)?.observe(() => {
      throw new Error("of the observer");
    });
    expect(await receive(eventRequest("challenge.approved"))).toBe(200);
    expect(warnings.listCodes()).toContain("LISTENER_FAILED");
  });

  it.each([
    [{ authToken: ["a", "b"], acknowledge: "before" as const, confirm }, 2],
    [{ authToken: () => "a", name: "login", queue: createQueue() }, undefined],
  ])("shows its settings to an inspection: %j", ({ authToken, ...shown }, tokenCount) => {
    const { push } = createReceiver({ authToken, ...shown });
    expect(inspectReceiver(push)).toMatchObject({ ...shown, tokenCount });
  });

  it("runs the handlers of an event again, after confirm if it needs that", async () => {
    const decide = jest.fn(() => true);
    const { push, events, receive } = createReceiver({ confirm: decide });
    await receive(eventRequest("factor.created"));
    const handler = jest.fn();
    push.onAny(handler);
    const [event] = events;
    const given = { event, authTokenIndex: 7, ambiguity: "two uuids" };
    const inspection = inspectReceiver(push);
    const again = (needsConfirmation: boolean) =>
      inspection?.redeliver({ ...given, needsConfirmation } as never);
    await again(false);
    expect(decide).not.toHaveBeenCalled();
    await again(true);
    const context: unknown = expect.objectContaining({ ambiguity: "two uuids" });
    expect(decide).toHaveBeenCalledWith(event, context);
    expect(handler).toHaveBeenLastCalledWith(event, expect.objectContaining({ authTokenIndex: 7 }));
    decide.mockReturnValue(false);
    await expect(again(true)).rejects.toHaveProperty("code", "NOT_CONFIRMED");
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it("has a hash for each reading of a text with each token", async () => {
    const { push, receive } = createReceiver({ confirm, authToken: [AUTH_TOKEN, "old"] });
    const hashes: unknown[][] = [];
    inspectReceiver(push)?.observe(({ queued }) => {
      hashes.push([queued?.contentHash, ...(queued?.listOtherHashes?.() ?? [])]);
    });
    for (const overrides of [
      { entity_identity: "ada", event_id: "1" },
      { entity_identity: "adaevent_id1" },
      {},
    ])
      await receive(eventRequest("challenge.approved", { uuid: "1", ...overrides }));
    expect(new Set(hashes.flat()).size).toBe(6);
  });

  it("traces a request with the route of a URL in the scheme of the first one", async () => {
    const traced: object[] = [];
    const listen = (message: unknown) => void traced.push({ ...(message as object) });
    const { start } = tracingChannel("express-push-verification:receive");
    start.subscribe(listen);
    const publicUrl = ["http://a.test/", PUBLIC_URL];
    const { receive } = createReceiver({ publicUrl, name: "login" });
    for (const path of [PATH, "/other"]) await receive({ ...eventRequest("factor.created"), path });
    start.unsubscribe(listen);
    const common = { method: "POST", scheme: "http", receiver: "login" };
    expect(traced).toEqual([
      { ...common, path: PATH, route: PATH },
      { ...common, path: "/other", route: undefined },
    ]);
    expect(received).toEqual(Array(2).fill(["received", { method: "POST" }]));
  });

  it("calls an observer until it is removed", async () => {
    const { push, receive } = createReceiver();
    const observer = jest.fn();
    const stop = inspectReceiver(push)?.observe(observer);
    await receive(eventRequest("challenge.approved"));
    stop?.();
    await receive(eventRequest("challenge.approved"));
    expect(observer).toHaveBeenCalledTimes(1);
  });
});
