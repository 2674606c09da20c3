import { silent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis, type RedisServer } from "../../support/redis";
import { createLetterSet, type LetterSet } from "../../../lib/durable/redis/letter-set";
import { resolveRedisOptions } from "../../../lib/durable/redis/options";

describeWithRedis("the dead letters by account", () => {
  const failed = "push:q:failed";
  let server: RedisServer;
  let set: LetterSet;
  let failedAt: number;

  beforeEach(async () => {
    server = await startRedis();
    const options = { name: "q", connection: server.url, logger: silent, maxDeadLetters: 4 };
    set = createLetterSet(server.redis, resolveRedisOptions(options));
    failedAt = 1_000;
  });
  afterEach(stopRedis);

  /** Fails jobs as BullMQ does, and adds them; the first letter of a job is its account. */
  async function fail(...jobIds: string[]): Promise<void> {
    for (const jobId of jobIds) {
      await server.redis.zadd(failed, String(failedAt++), jobId);
      await set.add({ jobId, account: jobId.charAt(0) });
    }
  }
  const discard = (jobId: string) => set.discard({ jobId, account: jobId.charAt(0) }, "id");
  /** Discards the excess, and lists it. */
  async function trim(): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const jobId = await set.findExcess();
      if (jobId === undefined) return found;
      expect(await discard(jobId)).toBe(true);
      found.push(jobId);
    }
  }

  it("finds no excess up to maxDeadLetters", async () => {
    expect(await set.findExcess()).toBeUndefined();
    await fail("a1", "a2", "a3", "a4");
    expect(await set.findExcess()).toBeUndefined();
  });

  it("finds the oldest of the account that has the most", async () => {
    await fail("a1", "b1", "b2", "c1", "b3", "c2");
    expect(await trim()).toEqual(["b1", expect.stringMatching(/^[bc]/)]);
    expect(await server.redis.zrange(failed, "0", "-1")).toContain("a1");
  });

  it("finds the oldest of the only account", async () => {
    await fail("a1", "a2", "a3", "a4", "a5", "a6");
    expect(await trim()).toEqual(["a1", "a2"]);
  });

  it("counts a letter once, however often it is added", async () => {
    await fail("a1", "a2", "b1", "b2", "b3");
    for (let count = 0; count < 5; count++) await set.add({ jobId: "a1", account: "a" });
    expect(await trim()).toEqual(["b1"]);
  });

  it("adds no job that is not failed any more", async () => {
    await set.add({ jobId: "a1", account: "a" });
    expect(await server.redis.keys("push:q:letters*")).toEqual([]);
  });

  it("counts no letter that was retried", async () => {
    await fail("a1", "a2", "a3", "a4", "a5", "a6");
    for (const jobId of ["a2", "a3", "a4", "a5", "a6"]) {
      await server.redis.zrem(failed, jobId);
      await set.remove({ jobId, account: "a" });
    }
    await fail("b1", "b2", "b3", "b4");
    expect(await trim()).toEqual(["b1"]);
  });

  it("keeps a letter that failed again after its retry", async () => {
    await fail("a1", "a2", "a3", "b1", "b2");
    await set.remove({ jobId: "a1", account: "a" });
    expect(await trim()).toEqual(["a1"]);
  });

  it("finds no letter that was retried by other means", async () => {
    await fail("a1", "a2", "a3", "a4", "b1", "c1");
    await server.redis.zrem(failed, "a1", "a2", "a3");
    await fail("d1", "d2");
    expect(await trim()).toEqual(["d1"]);
  });

  it("finds the oldest of all when no letter was added", async () => {
    for (const jobId of ["a1", "b1", "a2", "a3", "a4"]) {
      await server.redis.zadd(failed, String(failedAt++), jobId);
    }
    expect(await trim()).toEqual(["a1"]);
  });

  it("counts the failed jobs that were not added", async () => {
    expect(await set.countUnlisted()).toBe(0);
    await fail("a1", "a2", "a3", "b1", "b2", "c1", "d1");
    expect(await set.countUnlisted()).toBe(0);
    await server.redis.zadd(failed, "1", "e1", "2", "e2");
    expect(await set.countUnlisted()).toBe(2);
  });

  it("leaves nothing of letters that were discarded", async () => {
    await fail("a1", "a2", "b1");
    await server.redis.hset("push:q:a1", "data", "{}");
    for (const jobId of ["a1", "a2", "b1"]) expect(await discard(jobId)).toBe(true);
    expect(await discard("a1")).toBe(false);
    expect(await server.redis.keys("*")).toEqual([]);
  });

  it("discards in a Redis without free memory", async () => {
    await fail("a1", "a2", "a3", "a4", "b1");
    await server.redis.set("push:q:de:id", "a1", "EX", 100);
    await server.redis.config("SET", "maxmemory", "1");
    await expect(fail("b2")).rejects.toThrow("OOM");
    expect(await trim()).toEqual(["a1"]);
    expect(await server.redis.get("push:q:de:id")).toBe("a1-discarded");
    expect(await server.redis.ttl("push:q:de:id")).toBeGreaterThan(50);
  });
});
