import type { NewPostgresEvent } from "../../../lib/durable/postgres/job";
import { resolvePostgresOptions } from "../../../lib/durable/postgres/options";
import { createServer, type Server } from "../../../lib/durable/postgres/server";
import { createStoreEvent } from "../../../lib/durable/postgres/store";
import { measureHeap } from "../../support/heap";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";

const BODY_BYTES = 64 * 1024;

jest.setTimeout(60_000);

describeWithPostgres("storing events in Postgres", () => {
  let postgres: PostgresProcess;
  let server: Server;

  beforeAll(async () => {
    postgres = await startPostgresProcess();
  });
  afterAll(async () => {
    server.close();
    postgres.signalAll("SIGCONT");
    await postgres.remove();
  });

  const createEvent = (index: number): NewPostgresEvent => ({
    key: Buffer.alloc(20, index),
    content: Buffer.alloc(20),
    token: crypto.randomUUID(),
    // Of its own: Node.js would share the characters of a repeated string.
    payload: Buffer.alloc(BODY_BYTES, `${index}|`).toString("latin1"),
  });

  it("keeps no event of a request that timed out while Postgres is frozen", async () => {
    const settings = resolvePostgresOptions({ name: "q", connection: postgres.url });
    server = createServer(settings);
    const storeEvent = createStoreEvent(server, settings);
    postgres.signalAll("SIGSTOP");
    const beforeBytes = measureHeap();
    for (let turn = 0; turn < 100; turn++) {
      let isOver = false;
      for (let index = 0; index < 20; index++) {
        const stored = storeEvent(createEvent(turn * 20 + index), undefined, () => !isOver);
        stored.catch(() => {});
      }
      await new Promise((resolve) => setImmediate(resolve));
      isOver = true;
    }
    // 2,000 events. Up to 256 of them are in statements that were sent.
    expect(measureHeap() - beforeBytes).toBeLessThan(500 * BODY_BYTES);
  });
});
