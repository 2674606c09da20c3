/** The stores of examples/dedupe, against real servers. */
import { testDedupeStore } from "express-push-verification/testing";
import { Pool } from "pg";
import { createPostgresDedupe, CREATE_TABLE, REMOVE_OLD } from "../../examples/dedupe/postgres";
import { createRedisDedupe } from "../../examples/dedupe/redis";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../support/postgres";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { countTime } from "../support/waiting";

countTime();

describeWithRedis("the dedupe store in Redis", () => {
  it("passes testDedupeStore", async () => {
    const { redis } = await startRedis();
    const store = createRedisDedupe(redis);
    await testDedupeStore(() => store);
    await stopRedis();
  });
});

describeWithPostgres("the dedupe store in PostgreSQL", () => {
  let server: PostgresProcess;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } });
    pool = new Pool({ connectionString: server.url, max: 20 });
    await pool.query(CREATE_TABLE);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  it("passes testDedupeStore", () => testDedupeStore(() => createPostgresDedupe(pool)));

  it("keeps a uuid and its content for the replay window", async () => {
    const store = createPostgresDedupe(pool);
    const uuid = crypto.randomUUID();
    const first = { accountSid: "AC1", uuid, owner: "a", contentHash: "hash", leaseMs: 60_000 };
    const next = { ...first, owner: "b" };
    await store.claim(first);
    await store.complete(first);
    await pool.query(REMOVE_OLD);
    expect(await store.claim(next)).toBe("done");
    expect(await store.claim({ ...next, contentHash: "other" })).toBe("conflict");
    const [claimed, lapsed] = [25, 24].map((hours) => `now() - interval '${hours} hours'`);
    await pool.query(`UPDATE push_events SET claimed_at = ${claimed}, lapses_at = ${lapsed}`);
    expect((await pool.query(REMOVE_OLD)).rowCount).toBeGreaterThan(0);
    expect(await store.claim(next)).toBe("new");
  });
});
