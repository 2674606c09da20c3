import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, sidOf, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/waiting";

const BACKLOG = 20_000;
const EVENTS = 100;

jest.setTimeout(60_000);

describeWithPostgres("the schema in Postgres", () => {
  let server: PostgresProcess;
  let queue: DurableQueue;

  beforeAll(async () => {
    // Nothing else reads the rows.
    server = await startPostgresProcess({ settings: { autovacuum: "off" } });
  });
  afterAll(async () => {
    await queue.close({ deadlineMs: 0 });
    await server.remove();
  });

  const open = (name = "q") => postgresQueue({ connection: server.url, name, logger: silent });

  /** Postgres adds the reads of a connection to its counters when the connection ends, at the latest. */
  async function countReadRows(): Promise<number> {
    await until(async () => {
      const clients = await server.query(
        "select from pg_stat_activity where application_name = 'push-webhooks'",
      );
      return clients.length === 0;
    }, 10_000);
    const [row] = await server.query(`select (seq_tup_read + idx_tup_fetch)::int as count
      from pg_stat_user_tables where relid = 'push.event'::regclass`);
    return row!.count as number;
  }

  it("keeps uuids and outcomes of two queues apart", async () => {
    const queues = [open("staging"), open("production")] as const;
    const [staging, production] = queues;
    const wait = { account: "", challengeSid: sidOf(1) };
    const waits = Promise.allSettled([
      staging.outcomes.wait({ ...wait, timeoutMs: 20_000 }),
      production.outcomes.wait({ ...wait, timeoutMs: 500 }),
    ]);
    const denied = eventFixture("challenge.denied", { challenge_sid: sidOf(1), uuid: "u" });
    expect(await staging.store(queuedEvent(denied), Number.POSITIVE_INFINITY)).toBe("new");
    expect((await waits).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await production.store(queuedEvent(denied), Number.POSITIVE_INFINITY)).toBe("new");
    for (const one of queues) await one.close();
  });

  it("lets a worker take and finish events without reading those of other queues", async () => {
    queue = open();
    await queue.ready();
    await server.query(
      `insert into push.event (queue, run_at, uuid_hash, body)
      select 99, number, gen_random_uuid(), '{}' from generate_series(1, $1::int) as number`,
      [BACKLOG],
    );
    for (let count = 0; count < EVENTS; count++) {
      const event = queuedEvent(eventFixture("factor.created", { uuid: String(count) }));
      await queue.store(event, Number.POSITIVE_INFINITY);
    }
    await queue.close();
    const readBefore = await countReadRows();
    queue = open();
    let handled = 0;
    queue.work(createHandlers().onUnhandled(() => void handled++));
    await until(() => handled === EVENTS, 20_000);
    await queue.close();
    expect((await countReadRows()) - readBefore).toBeLessThan(BACKLOG);
  });
});
