import type { Redis } from "ioredis";
import { describeWithRedis, startRedis, stopRedis, until } from "../../support/redis";
import type { RedisServer } from "../../support/redis";
import { openBullQueue, type BullQueue } from "../../../lib/durable/redis/bull-queue";
import { endConnection, openConnection } from "../../../lib/durable/redis/connection";
import { createRedisLetters, type RedisLetters } from "../../../lib/durable/redis/dead-letters";
import { createLetterSet } from "../../../lib/durable/redis/letter-set";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";
import type { StoredEvent } from "../../../lib/durable/stored-event";

describeWithRedis("dead letters that are in the set of no account", () => {
  let server: RedisServer;
  let failedAt: number;
  let logger: Record<"debug" | "info" | "warn" | "error", jest.Mock>;
  let redis: Redis;
  let bull: BullQueue;
  let letters: RedisLetters;
  let countUnlisted: () => Promise<number>;

  beforeEach(async () => {
    server = await startRedis();
    failedAt = 1_000;
    logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    bull.close();
    endConnection(redis);
    await stopRedis();
  });

  async function open(maxDeadLetters: number, isLogged = true): Promise<void> {
    const settings = resolveRedisOptions({
      name: "q",
      connection: server.url,
      maxDeadLetters,
      logger: isLogged ? logger : undefined,
    });
    redis = openConnection(settings, "store");
    await until(() => redis.status === "ready");
    bull = openBullQueue(redis, settings);
    await bull.ready();
    letters = createRedisLetters(bull, redis, settings);
    countUnlisted = () => createLetterSet(redis, settings).countUnlisted();
  }

  /** Creates jobs as they are when they have failed; the first letter of a job is its account. */
  async function fail(...jobIds: string[]): Promise<void> {
    await bull.current().addBulk(
      jobIds.map((jobId) => {
        const data = { account: jobId.charAt(0), params: [["uuid", jobId]] };
        return { name: "event", data: data as unknown as StoredEvent, opts: { jobId } };
      }),
    );
    await server.redis.del("push:q:wait");
    const scores = jobIds.flatMap((jobId) => [failedAt++, jobId]);
    await server.redis.zadd("push:q:failed", ...scores);
  }
  async function add(...jobIds: string[]): Promise<void> {
    for (const jobId of jobIds) await letters.add((await bull.current().getJob(jobId))!);
  }
  async function removeSets(): Promise<void> {
    await server.redis.del(await server.redis.keys("push:q:letters*"));
  }
  const name = (account: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${account}-${index}`);
  const messages = () => logger.error.mock.calls.map(([, text]) => String(text));

  it("are discarded before a new one of another account", async () => {
    await open(3);
    await fail("a1", "a2", "a3");
    await add("a1", "a2", "a3");
    await removeSets();
    await fail("b1");
    await add("b1");
    expect(await letters.listIds()).toEqual(["a2", "a3", "b1"]);
    expect(logger.error.mock.calls).toEqual([
      [expect.objectContaining({ uuid: "a1" }), expect.stringContaining("discarded")],
    ]);
  });

  it("are discarded before a new one of their account", async () => {
    await open(3);
    await fail("a1", "a2", "a3", "a4");
    await add("a4");
    expect(await letters.listIds()).toEqual(["a2", "a3", "a4"]);
  });

  it("count for their account when others are in its set", async () => {
    await open(6);
    await fail("b1", "b2", "a1", "a2", "a3", "a4", "b3");
    await add("b1", "b2", "a4", "b3");
    expect(await letters.listIds()).toEqual(["b1", "b2", "a2", "a3", "a4", "b3"]);
  });

  it("are found behind many that are in a set", async () => {
    await open(270);
    await fail(...name("b", 120), ...name("a", 150));
    await add(...name("b", 120));
    await fail("c1");
    await add("c1");
    expect(await letters.listIds()).toEqual([...name("b", 120), ...name("a", 150).slice(1), "c1"]);
    expect(await countUnlisted()).toBe(0);
  });

  it("are read by the thousand, however many there are", async () => {
    await open(1_500);
    await fail(...name("a", 1_500), "b1");
    await server.redis.config("RESETSTAT");
    await add("b1");
    const stats = await server.redis.info("commandstats");
    expect(Number(/^cmdstat_hgetall:calls=(\d+)/m.exec(stats)?.[1])).toBeLessThan(1_010);
    expect(await countUnlisted()).toBe(500);
    expect(await letters.listIds()).toEqual([...name("a", 1_500).slice(1), "b1"]);
  });

  it("are adopted later when there were too many for one search", async () => {
    await open(1_500);
    const jobIds = name("a", 1_500);
    await fail(...jobIds);
    await until(async () => {
      const jobId = `b${jobIds.length}`;
      jobIds.push(jobId);
      await fail(jobId);
      await add(jobId);
      return (await countUnlisted()) === 0;
    });
    expect(await letters.listIds()).toEqual(jobIds.slice(-1_500));
  });

  it("are not searched again within a second", async () => {
    await open(3);
    const clock = jest.spyOn(performance, "now").mockReturnValue(1_000);
    await fail("a1", "a2", "a3", "a4", "a5", "a6");
    await add("a4", "a6");
    await fail("a7", "a8");
    await add("a8");
    expect(await countUnlisted()).toBe(1);
    clock.mockReturnValue(2_001);
    await fail("a9");
    await add("a9");
    expect(await countUnlisted()).toBe(0);
    expect(await letters.listIds()).toEqual(["a7", "a8", "a9"]);
  });

  it("are removed when they have no job", async () => {
    await open(3);
    await server.redis.zadd("push:q:failed", 1, "x1", 2, "x2", 3, "x3");
    await fail("b1");
    await add("b1");
    expect(await letters.listIds()).toEqual(["b1"]);
  });

  describe("because Redis was full", () => {
    const isFull = (full: boolean) => server.redis.config("SET", "maxmemory", full ? "1" : "0");

    it("are logged, and the next dead letter makes up for it", async () => {
      await open(3);
      await fail("a1", "a2", "a3");
      await isFull(true);
      await add("a1", "a2", "a3");
      await isFull(false);
      expect(await countUnlisted()).toBe(3);
      const text = expect.stringMatching(/^A dead letter is not counted for its account: OOM/);
      expect(logger.error.mock.calls).toEqual(
        Array.from({ length: 3 }, () => [{ error: expect.stringMatching(/^OOM/) }, text]),
      );
      await fail("b1");
      await add("b1");
      expect(await letters.listIds()).toEqual(["a2", "a3", "b1"]);
    });

    it("are logged without what the command had as arguments", async () => {
      await open(3);
      await fail("a1");
      await isFull(true);
      await add("a1");
      expect(JSON.stringify(logger.error.mock.calls)).not.toMatch(/a1|push:q/);
    });

    it("are discarded while it is full, the oldest first", async () => {
      await open(3);
      await fail("a1", "a2", "a3", "b1");
      await isFull(true);
      await add("b1");
      expect(await letters.listIds()).toEqual(["a2", "a3", "b1"]);
      expect(messages()).toEqual([
        expect.stringContaining("not counted"),
        expect.stringContaining("not counted"),
        expect.stringContaining("discarded"),
      ]);
    });

    it("are adopted as soon as it is not full any more", async () => {
      await open(4);
      await fail("a1", "a2", "a3", "a4", "b1");
      await isFull(true);
      await add("b1");
      await isFull(false);
      await fail("b2");
      await add("b2");
      expect(await letters.listIds()).toEqual(["a3", "a4", "b1", "b2"]);
    });

    it("are not logged without a logger", async () => {
      await open(3, false);
      await fail("a1");
      await isFull(true);
      await add("a1");
      expect(await letters.listIds()).toEqual(["a1"]);
      expect(await countUnlisted()).toBe(1);
    });
  });
});
