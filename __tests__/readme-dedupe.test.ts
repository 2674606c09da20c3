/** The PostgreSQL store of docs/idempotency.md: its very SQL and code, against a real server. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pushWebhooks, type DedupeClaim, type DedupeStore } from "express-push-verification";
import { testDedupeStore } from "express-push-verification/testing";
import { Pool } from "pg";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "./support/webhook-requests";
import { listBlocks } from "./support/docs";
import { describeWithPostgres } from "./support/postgres";
import { startPostgresProcess, type PostgresProcess } from "./support/postgres-server";
import { PATH, send, SERVERS, startServer, stopServers } from "./support/servers";

const folder = join(__dirname, ".readme-dedupe");
const [sql] = listBlocks("docs/idempotency.md", "sql");
const code = listBlocks("docs/idempotency.md").find(({ code: text }) =>
  text.includes("createPostgresDedupe"),
);

describeWithPostgres("the PostgreSQL dedupe store of docs/idempotency.md", () => {
  let server: PostgresProcess;
  let pool: Pool;
  let store: DedupeStore;
  let uuid: string;
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
  afterEach(stopServers);
  beforeEach(() => void (uuid = crypto.randomUUID()));

  const claimOf = (fields: Partial<DedupeClaim> = {}): DedupeClaim => ({
    accountSid: "AC1",
    uuid,
    owner: "a",
    contentHash: "hash",
    leaseMs: 60_000,
    ...fields,
  });

  it("passes testDedupeStore", async () => {
    await testDedupeStore(() => store);
  });

  it("tells a duplicate from a conflict once it is completed", async () => {
    await store.claim(claimOf());
    await store.complete(claimOf());
    await store.release(claimOf());
    expect(await store.claim(claimOf())).toBe("done");
    expect(await store.claim(claimOf({ owner: "b" }))).toBe("done");
    expect(await store.claim(claimOf({ owner: "b", contentHash: "other" }))).toBe("conflict");
  });

  it("runs handlers once when the response to the first claim is lost", async () => {
    let claims = 0;
    const lossy: DedupeStore = {
      ...store,
      async claim(claim) {
        const found = await store.claim(claim);
        if (++claims === 1) throw new Error("the connection ended after the commit");
        return found;
      },
    };
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, dedupe: lossy });
    const handle = jest.fn();
    push.onAny(handle);
    const port = await startServer((req, res) => void push(req, res));
    expect(await send(port, eventRequest("challenge.approved"))).toHaveProperty("status", 200);
    expect([claims, handle.mock.calls.length]).toEqual([2, 1]);
  });

  it("removes only rows that are older than the replay window", async () => {
    await store.claim(claimOf());
    await store.complete(claimOf());
    await pool.query(cleanUp);
    expect(await store.claim(claimOf({ owner: "b" }))).toBe("done");
    await pool.query(
      "UPDATE push_events SET claimed_at = now() - interval '25 hours', lapses_at = now() - interval '24 hours'",
    );
    expect((await pool.query(cleanUp)).rowCount).toBeGreaterThan(0);
    expect(await store.claim(claimOf({ owner: "b" }))).toBe("new");
  });

  it("runs handlers once for deliveries to two receivers", async () => {
    const uuids: string[] = [];
    const [, listenerOf] = SERVERS[0] ?? [];
    const ports = await Promise.all(
      [1, 2].map(() => {
        const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, dedupe: store });
        push.onAny((event) => void uuids.push(event.uuid));
        return startServer(listenerOf?.(push) ?? (() => {}));
      }),
    );
    const delivery = { ...eventRequest("challenge.approved"), path: PATH };
    const copies = Array.from({ length: 20 }, (_, index) => send(ports[index % 2] ?? 0, delivery));
    for (const response of await Promise.all(copies)) expect(response.status).toBe(200);
    expect(uuids).toHaveLength(1);
  });
});
