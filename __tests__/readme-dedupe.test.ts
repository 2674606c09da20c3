/** The PostgreSQL store of docs/idempotency.md: its very SQL and code, against a real server. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DedupeClaim, DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";
import { Pool } from "pg";
import { listBlocks } from "./support/docs";
import { describeWithPostgres } from "./support/postgres";
import { startPostgresProcess, type PostgresProcess } from "./support/postgres-server";

const folder = join(__dirname, ".readme-dedupe");
const [sql] = listBlocks("docs/idempotency.md", "sql");
const code = listBlocks("docs/idempotency.md").find(({ code: text }) =>
  text.includes("createPostgresDedupe"),
);

describeWithPostgres("the PostgreSQL dedupe store of docs/idempotency.md", () => {
  let server: PostgresProcess;
  let pool: Pool;
  let store: DedupeStore;
  let cleanUp: string;

  beforeAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const file = join(folder, "block.ts");
    writeFileSync(file, code?.code ?? "");
    const exported = require(file) as { createPostgresDedupe(pool: Pool): DedupeStore };
    server = await startPostgresProcess({ settings: { fsync: "off" } });
    pool = new Pool({ connectionString: server.url, max: 20 });
    store = exported.createPostgresDedupe(pool);
    const [create = "", clean = ""] = (sql?.code ?? "").split(/(?<=^\);)$/m);
    await pool.query(create);
    cleanUp = clean;
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
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
