/** The stores of docs/idempotency.md: their very SQL and code, against real servers. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DedupeClaim, DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";
import type { Redis } from "ioredis";
import { Pool } from "pg";
import { listBlocks } from "./support/docs";
import { describeWithPostgres } from "./support/postgres";
import { describeWithRedis, startRedis, stopRedis } from "./support/redis";
import { startPostgresProcess, type PostgresProcess } from "./support/postgres-server";

const folder = join(__dirname, ".readme-dedupe");
const [sql] = listBlocks("docs/idempotency.md", "sql");

/** Loads the block of the page that exports a function. */
function load<Exported>(name: keyof Exported & string): Exported {
  const block = listBlocks("docs/idempotency.md").find(({ code }) =>
    code.includes(`function ${name}`),
  );
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, block?.code ?? "");
  return require(file) as Exported;
}
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeWithRedis("the Redis dedupe store of docs/idempotency.md", () => {
  it("passes testDedupeStore", async () => {
    const { redis } = await startRedis();
    type Block = { createRedisDedupe(redis: Redis): DedupeStore };
    const store = load<Block>("createRedisDedupe").createRedisDedupe(redis);
    await testDedupeStore(() => store);
    await stopRedis();
  });
});

describeWithPostgres("the PostgreSQL dedupe store of docs/idempotency.md", () => {
  let server: PostgresProcess;
  let pool: Pool;
  let store: DedupeStore;
  let cleanUp: string;

  beforeAll(async () => {
    type Block = { createPostgresDedupe(pool: Pool): DedupeStore };
    server = await startPostgresProcess({ settings: { fsync: "off" } });
    pool = new Pool({ connectionString: server.url, max: 20 });
    store = load<Block>("createPostgresDedupe").createPostgresDedupe(pool);
    const [create = "", clean = ""] = (sql?.code ?? "").split(/(?<=^\);)$/m);
    await pool.query(create);
    cleanUp = clean;
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });
  it("passes testDedupeStore", async () => {
    await testDedupeStore(() => store);
  });

  it("keeps a uuid and its content for the replay window, then removes them", async () => {
    const uuid = crypto.randomUUID();
    const first = { accountSid: "AC1", uuid, owner: "a", contentHash: "hash", leaseMs: 60_000 };
    const next: DedupeClaim = { ...first, owner: "b" };
    await store.claim(first);
    await store.complete(first);
    await pool.query(cleanUp);
    expect(await store.claim(next)).toBe("done");
    expect(await store.claim({ ...next, contentHash: "other" })).toBe("conflict");
    await pool.query(
      "UPDATE push_events SET claimed_at = now() - interval '25 hours', lapses_at = now() - interval '24 hours'",
    );
    expect((await pool.query(cleanUp)).rowCount).toBeGreaterThan(0);
    expect(await store.claim(next)).toBe("new");
  });
});
