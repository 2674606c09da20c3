import { UnrecoverableError } from "bullmq";
import { pushWebhooks, type PushEvent, type PushWebhooks } from "express-push-verification";
import {
  durableQueue,
  type DurableQueue,
  type DurableQueueOptions,
} from "express-push-verification/durable";
import { AUTH_TOKEN, eventCall, PUBLIC_URL } from "../support/calls";
import {
  collect,
  describeWithAnyRedis,
  stopRedis,
  until,
  useRedis,
  type RedisServer,
} from "../support/redis";
import { send, startServer, stopServers } from "../support/servers";

describeWithAnyRedis("durableQueue", () => {
  let server: Pick<RedisServer, "url" | "redis">;
  let options: DurableQueueOptions;
  let queue: DurableQueue;
  let push: PushWebhooks;
  let port: number;
  let handled: { event: PushEvent; attempt: number; authTokenIndex: number }[];
  let fails: (event: PushEvent, attempt: number) => unknown;

  beforeAll(async () => {
    server = await useRedis();
  });
  afterAll(stopRedis);
  beforeEach(async () => {
    // A Redis of somebody else is neither emptied nor asked how it is set up.
    const prefix = `push-test-${crypto.randomUUID()}`;
    options = { connection: server.url, prefix, durability: "trust" };
    handled = [];
    fails = () => undefined;
    queue = durableQueue({ ...options, backoff: 20, attempts: 3 });
    push = pushWebhooks({ authToken: ["next", AUTH_TOKEN], publicUrl: PUBLIC_URL, queue });
    push.onError(() => {});
    push.on("*", (event, { attempt, authTokenIndex }) => {
      handled.push({ event, attempt, authTokenIndex });
      const failure = fails(event, attempt);
      if (failure !== undefined) throw failure;
    });
    await queue.ready();
    port = await startServer((req, res) => void push(req, res));
  });
  afterEach(async () => {
    await push.close();
    await queue.close();
    await stopServers();
    const keys = await server.redis.keys(`${options.prefix}:*`);
    if (keys.length > 0) await server.redis.del(keys);
  });

  const deliver = async (call = eventCall("challenge.approved")) => (await send(port, call)).status;
  const attempts = () => handled.map(({ attempt }) => attempt);

  it("stores before it answers, and runs handlers later", async () => {
    expect(await deliver()).toBe(200);
    expect([handled, await queue.stats()]).toEqual([
      [],
      { waiting: 1, active: 0, delayed: 0, deadLetters: 0 },
    ]);
    queue.work(push);
    await until(() => handled.length === 1);
    expect(handled).toMatchObject([
      { event: { type: "challenge.approved", version: "v2" }, attempt: 1, authTokenIndex: 1 },
    ]);
    await until(async () => (await queue.stats()).active === 0);
    expect(await queue.stats()).toEqual({ waiting: 0, active: 0, delayed: 0, deadLetters: 0 });
  });

  it("leaves nothing of an event behind that was handled", async () => {
    queue.work(push);
    await deliver();
    await until(() => handled.length === 1);
    await until(async () => (await queue.stats()).active === 0);
    const texts = await Promise.all(
      (await server.redis.keys(`${options.prefix}:*`)).map(async (key) => {
        const type = await server.redis.type(key);
        if (type === "hash") return JSON.stringify(await server.redis.hgetall(key));
        if (type === "stream") return JSON.stringify(await server.redis.xrange(key, "-", "+"));
        return type === "string" && !key.includes(":outcome:") ? server.redis.get(key) : "";
      }),
    );
    expect(texts.join()).not.toContain("user-7f3a-22");
  });

  it.each([
    "meta",
    "0",
    "1",
    "id",
    "wait",
    "a:b",
    "a:b:c",
    "{x}",
    "__proto__",
    " ",
    "ü 😀",
    "x".repeat(200),
    "../../etc",
  ])("handles a call with the uuid %j once", async (uuid) => {
    queue.work(push);
    const call = eventCall("factor.created", { uuid });
    expect(await Promise.all([deliver(call), deliver(call), deliver(call)])).toEqual([
      200, 200, 200,
    ]);
    expect(await deliver(call)).toBe(200);
    await until(() => handled.length > 0);
    await until(async () => (await queue.stats()).active === 0);
    expect(handled.map(({ event }) => event.uuid)).toEqual([uuid]);
    expect(await deliver(call)).toBe(200);
    expect((await queue.stats()).waiting).toBe(0);
  });

  it("drops another call of the same uuid, and says so", async () => {
    const stored = { authTokenIndex: 0, uuid: "same" };
    const event = (of: string) => ({ uuid: "same", entity_identity: of });
    const store = (of: string) => {
      const params = [
        ["uuid", "same"],
        ["entity_identity", of],
      ];
      return queue.store({ ...stored, contentHash: of, event: { ...event(of), params } as never });
    };
    expect(await store("one")).toBe("new");
    expect(await store("one")).toBe("duplicate");
    expect(await store("two")).toBe("conflict");
    expect((await queue.stats()).waiting).toBe(1);
  });

  it("remembers a uuid for dedupeTtlMs", async () => {
    const short = durableQueue({ ...options, name: "short", dedupeTtlMs: 1_000 });
    await short.ready();
    const params: [string, string][] = [["uuid", "a"]];
    const call = { uuid: "a", contentHash: "h", event: { params } as never, authTokenIndex: 0 };
    expect([await short.store(call), await short.store(call)]).toEqual(["new", "duplicate"]);
    await until(async () => (await short.store(call)) === "new");
    await short.close();
  });

  it("runs failing handlers again, and keeps as a dead letter what stays failing", async () => {
    fails = (_event, attempt) => (attempt < 3 ? new Error("not yet") : undefined);
    queue.work(push);
    await deliver();
    await until(() => handled.length === 3);
    expect(attempts()).toEqual([1, 2, 3]);

    handled = [];
    fails = () => new Error("never");
    await deliver(eventCall("challenge.denied", { uuid: "dead" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    const letters = await collect(queue.deadLetters());
    expect(letters).toEqual([
      {
        uuid: "dead",
        event: expect.objectContaining({ type: "challenge.denied" }),
        error: "HANDLER_FAILED: never",
        attempts: 3,
        failedAt: expect.any(Date),
      },
    ]);
    expect(Date.now() - Number(letters[0]?.failedAt)).toBeLessThan(10_000);
  });

  it("makes a dead letter at once of what a handler calls unrecoverable", async () => {
    fails = () => new UnrecoverableError("no such user");
    queue.work(push);
    await deliver();
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect(attempts()).toEqual([1]);
  });

  it("revives dead letters, one or all, with all attempts", async () => {
    fails = () => new UnrecoverableError("down");
    queue.work(push);
    for (const uuid of ["a", "b", "c"]) await deliver(eventCall("factor.created", { uuid }));
    await until(async () => (await queue.stats()).deadLetters === 3);
    fails = (_event, attempt) => (attempt < 3 ? new Error("again") : undefined);
    handled = [];
    expect([await queue.revive("b"), await queue.revive("b"), await queue.revive("x")]).toEqual([
      1, 0, 0,
    ]);
    await until(() => handled.length === 3);
    expect(handled.map(({ event, attempt }) => [event.uuid, attempt])).toEqual([
      ["b", 1],
      ["b", 2],
      ["b", 3],
    ]);
    expect(await queue.revive({ all: true })).toBe(2);
    await until(() => handled.length === 9);
    await until(async () => (await queue.stats()).delayed === 0);
    expect((await queue.stats()).deadLetters).toBe(0);
  });

  it("discards a dead letter for ever: a replay is not handled", async () => {
    fails = () => new UnrecoverableError("poison");
    queue.work(push);
    const call = eventCall("factor.created", { uuid: "poison" });
    await deliver(call);
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect([await queue.discard("poison"), await queue.discard("poison")]).toEqual([true, false]);
    expect(await collect(queue.deadLetters())).toEqual([]);
    expect(await deliver(call)).toBe(200);
    expect(await queue.stats()).toMatchObject({ waiting: 0, active: 0, deadLetters: 0 });
    expect(handled).toHaveLength(1);
  });

  it("lists dead letters that this version cannot read", async () => {
    fails = () => new UnrecoverableError("x");
    queue.work(push);
    await deliver(eventCall("factor.created", { uuid: "odd" }));
    await until(async () => (await queue.stats()).deadLetters === 1);
    const keys = await server.redis.keys(`${options.prefix}:push-webhooks:*-*-*`);
    const key = keys.find((name) => !name.includes(":de:")) ?? "";
    await server.redis.hset(key, "data", JSON.stringify({ params: [["uuid", "odd"]] }));
    expect(await collect(queue.deadLetters())).toMatchObject([{ uuid: "odd", event: undefined }]);
  });

  it("hands events of unknown types to onUnhandled", async () => {
    const unknown: string[] = [];
    push.onUnhandled(({ type }) => void unknown.push(type));
    queue.work(push);
    await deliver(eventCall("factor.created", { type: "challenge.expired" }));
    await until(() => unknown.length === 1);
    expect(unknown).toEqual(["challenge.expired"]);
  });

  it("is not blocked by events that fail", async () => {
    fails = ({ entity_identity }) => (entity_identity === "poison" ? new Error("no") : undefined);
    queue.work(push, { concurrency: 2 });
    for (let count = 0; count < 10; count++) {
      await deliver(eventCall("factor.created", { uuid: `p${count}`, entity_identity: "poison" }));
      await deliver(eventCall("factor.created", { uuid: `g${count}` }));
    }
    await until(() => handled.filter(({ event }) => event.uuid.startsWith("g")).length === 10);
    await until(async () => (await queue.stats()).deadLetters === 10);
  });

  it("stores no more when it is closed, and finishes what runs", async () => {
    let finish!: () => void;
    const running = new Promise<void>((resolve) => (finish = resolve));
    push.on("factor.verified", () => running);
    queue.work(push);
    await deliver(eventCall("factor.verified"));
    await until(async () => (await queue.stats()).active === 1);
    const closing = queue.close();
    expect(await deliver()).toBe(503);
    expect(() => queue.work(push)).toThrow(expect.objectContaining({ code: "CLOSING" }));
    setTimeout(finish, 50);
    await closing;
    await queue.close();
    expect(await server.redis.llen(`${options.prefix}:push-webhooks:active`)).toBe(0);
  });

  it("does not wait for what runs longer than its deadline", async () => {
    push.on("factor.verified", () => new Promise((later) => setTimeout(later, 2_000)));
    queue.work(push);
    await deliver(eventCall("factor.verified"));
    await until(async () => (await queue.stats()).active === 1);
    const startMs = performance.now();
    await queue.close({ deadlineMs: 200 });
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  it("refuses what is no receiver, and options that do not exist", () => {
    expect(() => queue.work({} as never)).toThrow(TypeError);
    expect(() => queue.work(push, { concurrency: 0 })).toThrow(/concurrency/);
    expect(() => queue.close({ deadline: 5 } as never)).toThrow(/deadlineMs/);
  });
});
