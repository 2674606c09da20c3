import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createHandlers, PermanentError, pushWebhooks } from "express-push-verification";
import { redisQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { AUTH_TOKEN, PUBLIC_URL } from "../../support/webhook-requests";
import { entityIdentity, QUEUE_NAME, queuedEvent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { collect, until } from "../../support/waiting";

const ignore = { onError: () => {} };

describeWithRedis("workers", () => {
  let server: RedisServer;
  let queue: DurableQueue;
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  let published: [name: string, message: unknown][];
  const listener = (message: unknown, name: string | symbol) =>
    void published.push([String(name).replace("express-push-verification:", ""), message]);
  const CHANNELS = ["handled", "unhandled", "failed", "dead-lettered"];

  beforeEach(async () => {
    server = await startRedis();
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    queue = redisQueue({ name: QUEUE_NAME, connection: server.url, attempts: 1, logger });
    published = [];
    for (const name of CHANNELS) subscribe(`express-push-verification:${name}`, listener);
    await queue.ready();
  });
  afterEach(async () => {
    for (const name of CHANNELS) unsubscribe(`express-push-verification:${name}`, listener);
    await queue.close({ deadlineMs: 200 });
    await stopRedis();
  });
  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);
  const isIdle = async () => {
    const { waiting, active, delayed } = await queue.stats();
    return waiting + active + delayed === 0;
  };

  it("publish and log a dead letter, without personal data", async () => {
    const handlers = createHandlers().on("factor.created", ({ uuid }) => {
      if (uuid === "bad") throw new Error("no");
    });
    queue.work(handlers, ignore);
    await store("good");
    await store("bad");
    await until(() => published.some(([name]) => name === "dead-lettered"));
    expect(published.filter(([name]) => name === "dead-lettered")).toEqual([
      ["dead-lettered", { type: "factor.created", attempts: 1 }],
    ]);
    expect(logger.error).toHaveBeenLastCalledWith(
      expect.objectContaining({ uuid: "bad", attempts: 1, error: "HANDLER_FAILED: no" }),
      expect.any(String),
    );
    const { params: _params, ...fields } = eventFixture("factor.created");
    const logged = JSON.stringify([published, logger.error.mock.calls]);
    for (const value of [entityIdentity, fields.factor_sid, fields.factor_friendly_name]) {
      expect(logged).not.toContain(value);
    }
  });

  it("run no further attempt when one of several handlers throws a PermanentError", async () => {
    const retrying = redisQueue({ name: "retrying", connection: server.url, attempts: 5 });
    await retrying.ready();
    const onError = jest.fn();
    const handlers = createHandlers()
      .on("factor.created", () => Promise.reject(new Error("for now")))
      .on("factor.created", () => Promise.reject("a text"))
      .on("factor.created", () => Promise.reject(new PermanentError("for good")));
    retrying.work(handlers, { onError });
    const event = eventFixture("factor.created");
    await retrying.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    await until(async () => (await retrying.stats()).deadLetters === 1);
    const [deadLetter] = await collect(retrying.deadLetters());
    expect(deadLetter).toMatchObject({ attempts: 1, error: "HANDLER_FAILED: for now; for good" });
    expect(onError.mock.calls).toMatchObject([[{ code: "HANDLER_FAILED" }, { uuid: event.uuid }]]);
    await retrying.close();
  });

  it("abort and fail handlers that run longer than handlerTimeoutMs", async () => {
    let signal: AbortSignal | undefined;
    const handlers = createHandlers().on("factor.created", (_event, context) => {
      ({ signal } = context);
      return new Promise(() => {});
    });
    queue.work(handlers, { ...ignore, handlerTimeoutMs: 30 });
    await store("slow");
    await until(async () => (await queue.stats()).deadLetters === 1);
    const [deadLetter] = await collect(queue.deadLetters());
    expect([deadLetter?.error.split(":")[0], signal?.aborted]).toEqual(["HANDLER_TIMEOUT", true]);
  });

  it.each([
    ["no handlers", () => createHandlers()],
    ["a copy of handlers", () => ({ ...createHandlers().onAny(() => {}) })],
    ["a receiver", () => pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL })],
    ["nothing", () => undefined],
  ])("reject %s with a TypeError", async (_what, create) => {
    expect(() => queue.work(create() as never)).toThrow(TypeError);
    // No worker was started: an event stays stored.
    await store("kept");
    expect(await queue.stats()).toMatchObject({ waiting: 1, workers: 0 });
  });

  it("publish unhandled, never handled, for an event without a handler of its own", async () => {
    let seen = 0;
    const handlers = createHandlers()
      .onAny(() => void seen++)
      .on("factor.verified", () => {});
    queue.work(handlers);
    await store("unhandled");
    await until(isIdle);
    expect([seen, published]).toEqual([1, [["unhandled", { type: "factor.created" }]]]);
    await queue.store(queuedEvent(eventFixture("factor.verified")), Number.POSITIVE_INFINITY);
    await until(isIdle);
    expect(published.map(([name]) => name)).toEqual(["unhandled", "handled"]);
  });
});
