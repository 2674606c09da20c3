import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, sidOf, storeFactor } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { usePostgres } from "../../support/postgres-engine";
import { until } from "../../support/waiting";

const BACKLOG = 20_000;
const EVENTS = 100;

describeWithPostgres("the schema in Postgres", () => {
  // Nothing else reads the rows.
  const app = usePostgres({ settings: { autovacuum: "off" } });

  /** Postgres adds the reads of a connection to its counters when the connection ends, at the latest. */
  async function countReadRows(): Promise<number> {
    await until(async () => {
      const clients = await app.server.query(
        "select from pg_stat_activity where application_name = 'push-webhooks'",
      );
      return clients.length === 0;
    }, 10_000);
    const [row] = await app.server.query(`select (seq_tup_read + idx_tup_fetch)::int as count
      from pg_stat_user_tables where relid = 'push.event'::regclass`);
    return row!.count as number;
  }

  it("keeps uuids and outcomes of two queues apart", async () => {
    const [staging, production] = [app.open({ name: "staging" }), app.open({ name: "production" })];
    const wait = { account: "", challengeSid: sidOf(1) };
    const waits = Promise.allSettled([
      staging.outcomes.wait({ ...wait, timeoutMs: 20_000 }),
      production.outcomes.wait({ ...wait, timeoutMs: 500 }),
    ]);
    const denied = eventFixture("challenge.denied", { challenge_sid: sidOf(1), uuid: "u" });
    expect(await staging.store(queuedEvent(denied), Infinity)).toBe("new");
    expect((await waits).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await production.store(queuedEvent(denied), Infinity)).toBe("new");
  });

  it("lets a worker take and finish events without reading those of other queues", async () => {
    const queue = app.open();
    await queue.ready();
    await app.server.query(
      `insert into push.event (queue, run_at, uuid_hash, body)
      select 99, number, gen_random_uuid(), '{}' from generate_series(1, $1::int) as number`,
      [BACKLOG],
    );
    for (let count = 0; count < EVENTS; count++) await storeFactor(queue, String(count));
    await queue.close();
    const readBefore = await countReadRows();
    const worker = app.open();
    let handled = 0;
    worker.work(createHandlers().onUnhandled(() => void handled++));
    await until(() => handled === EVENTS, 20_000);
    await worker.close();
    expect((await countReadRows()) - readBefore).toBeLessThan(BACKLOG);
  });
});
