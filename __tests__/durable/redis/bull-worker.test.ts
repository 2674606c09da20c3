import { Worker, type Job } from "bullmq";
import type { Redis } from "ioredis";
import type { DurableQueue } from "express-push-verification/durable";
import { QUEUE_NAME as name, queuedParams, silent } from "../../support/durable";
import { describeWithRedis, startRedis, until, type RedisServer } from "../../support/redis";
import { useRedisQueues } from "../../support/redis-queues";
import { openBullWorker, type BullWorker } from "../../../lib/durable/redis/bull-worker";
import { endConnection, openConnection } from "../../../lib/durable/redis/connection";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";
import type { StoredEvent } from "../../../lib/durable/stored-event";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeWithRedis("the worker of BullMQ", () => {
  const { open, closeLater } = useRedisQueues();
  let server: RedisServer;
  let queue: DurableQueue;
  let connection: Redis;
  /** The connections that BullMQ makes for blocking commands. */
  let copies: Redis[];
  let opened: Worker<StoredEvent>[];
  let errors: string[];
  let runs: number;
  let handled: unknown[];
  let warned: jest.SpyInstance;

  beforeEach(async () => {
    server = await startRedis();
    // It may not run INFO yet.
    await createUser("-info");
    // ioredis writes there that it may not run INFO.
    warned = jest.spyOn(console, "warn").mockImplementation(() => {});
    queue = open(server.url, { logger: silent });
    [copies, opened, errors, runs, handled] = [[], [], [], 0, []];
    await queue.ready();
  });
  afterEach(() => warned.mockRestore());

  /** Creates the user of the workers. */
  const createUser = (...rules: string[]) =>
    server.redis.acl("SETUSER", "app", "on", ">pw", "~*", "&*", "+@all", ...rules);
  const allowInfo = () => server.redis.acl("SETUSER", "app", "+info");
  const store = (uuid: string) =>
    queue.store(queuedParams([["uuid", uuid]]), Number.POSITIVE_INFINITY);
  const countConnections = async () => {
    const list = String(await server.redis.client("LIST"));
    return list.split("\n").filter((line) => line.includes("user=app")).length;
  };

  function openWorker(): BullWorker {
    const url = server.url.replace("//", "//app:pw@");
    const settings = resolveRedisOptions({ name, connection: url, logger: silent });
    connection = openConnection(settings, "worker");
    const duplicate = connection.duplicate.bind(connection);
    connection.duplicate = (...args) => {
      const copy = duplicate(...args);
      copies.push(copy);
      return copy;
    };
    const create = () => {
      const handle = async ({ data }: Job<StoredEvent>) => void handled.push(data.params[0]?.[1]);
      const { prefix } = settings;
      const worker = new Worker<StoredEvent>(name, handle, { connection, prefix, autorun: false });
      worker.on("error", ({ message }) => void errors.push(message));
      opened.push(worker);
      return worker;
    };
    const bull = openBullWorker(connection, create, () => void runs++);
    closeLater({
      close() {
        bull.disconnect();
        endConnection(connection);
      },
    });
    return bull;
  }

  it("runs once Redis has replied to INFO, and reports that once", async () => {
    await allowInfo();
    const bull = openWorker();
    expect([bull.isRunning(), runs]).toEqual([false, 0]);
    await until(() => bull.isRunning());
    await store("a");
    await until(() => handled.length === 1);
    expect([runs, opened, errors]).toEqual([1, [bull.current()], []]);
  });

  it("does not run while Redis rejects INFO, and another one does when it replies", async () => {
    const bull = openWorker();
    await store("a");
    await until(() => errors.length >= 2);
    expect([bull.isRunning(), runs, handled]).toEqual([false, 0, []]);
    await allowInfo();
    await until(() => handled.length === 1);
    expect([bull.isRunning(), runs, handled]).toEqual([true, 1, ["a"]]);
    expect(opened).toHaveLength(2);
    expect(bull.current()).toBe(opened[1]);
    expect(opened[0]?.isRunning()).toBe(false);
  });

  it("reports the words of Redis at each rejection, and asks about twice a second", async () => {
    openWorker();
    // BullMQ may report the first rejection more than once.
    await until(() => errors.length >= 3);
    const startMs = performance.now();
    const before = errors.length;
    await until(() => errors.length >= before + 3);
    expect(performance.now() - startMs).toBeGreaterThan(900);
    expect(new Set(errors)).toEqual(new Set([expect.stringMatching(/^NOPERM.*info/)]));
  });

  it("blocks no timer and opens no further connection while Redis rejects INFO", async () => {
    openWorker();
    await until(() => errors.length >= 2);
    expect(opened).toHaveLength(1);
    expect(await countConnections()).toBe(1);
    let ticks = 0;
    const timer = setInterval(() => void ticks++, 10);
    await until(() => errors.length >= 4);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    expect([opened.length, await countConnections()]).toEqual([1, 1]);
  });

  it("does not run after stop()", async () => {
    const bull = openWorker();
    await until(() => errors.length >= 1);
    bull.stop();
    await allowInfo();
    await store("a");
    await later(1_200);
    expect([bull.isRunning(), runs, opened.length, handled]).toEqual([false, 0, 1, []]);
  });

  it("does not run after a stop() before Redis has replied to INFO", async () => {
    await allowInfo();
    const bull = openWorker();
    bull.stop();
    await store("a");
    await bull.current().waitUntilReady();
    await later(300);
    expect([bull.isRunning(), runs, handled]).toEqual([false, 0, []]);
  });

  it("continues to run after stop(), until disconnect() closes its connections", async () => {
    await allowInfo();
    const bull = openWorker();
    await until(() => bull.isRunning());
    bull.stop();
    await store("a");
    await until(() => handled.length === 1);
    expect(bull.isRunning()).toBe(true);
    bull.disconnect();
    endConnection(connection);
    expect(bull.isRunning()).toBe(false);
    await until(async () => (await countConnections()) === 0);
  });

  it.each([
    ["when Redis was reached before", async (bull: BullWorker) => until(() => bull.isRunning())],
    ["when Redis was never reached", async () => later(200)],
  ])("disconnects while Redis is down, %s", async (what, wait) => {
    await allowInfo();
    if (what.includes("never")) await server.stop("SIGKILL");
    const bull = openWorker();
    await wait(bull);
    await server.stop("SIGKILL");
    await until(() => connection.status !== "ready");
    bull.disconnect();
    endConnection(connection);
    expect(copies).toHaveLength(1);
    await until(() => copies[0]?.status === "end");
    // Its blocking command is rejected: BullMQ alone would wait for it for up to 6 s.
    await until(() => !bull.current().isRunning(), 3_000);
    await server.start();
    // A restart forgets users.
    await createUser();
    // A connection that was left would be back within 500 ms.
    await later(1_500);
    expect(await countConnections()).toBe(0);
  });
});
