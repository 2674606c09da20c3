import { Client } from "pg";
import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

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
  afterAll(() => server.remove());
  beforeEach(async () => {
    queue = open();
    await queue.ready();
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 0 });
    await server.query("drop schema push cascade");
  });

  const open = () => postgresQueue({ connection: server.url, name: "q", logger: silent });
  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);

  /** Adds events of a queue that has no worker. They are older than those of this queue. */
  async function addBacklog(): Promise<void> {
    await server.query("select push.add_job('other')");
    await server.query(
      `insert into push._private_jobs (task_id, key, run_at)
      select task_id, number, now() - interval '1 hour'
      from push._private_jobs, generate_series(1, $1::int) as number`,
      [BACKLOG],
    );
  }

  /** Postgres counts what a connection has read when it ends, at the latest. */
  async function countReadRows(): Promise<number> {
    await until(async () => {
      const clients = await server.query(
        "select from pg_stat_activity where application_name = 'push-webhooks'",
      );
      return clients.length === 0;
    }, 10_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const [row] = await server.query(`select (seq_tup_read + idx_tup_fetch)::int as count
      from pg_stat_user_tables where relid = 'push._private_jobs'::regclass`);
    return row!.count as number;
  }

  it("lets a worker take and release events without reading those of other queues", async () => {
    await addBacklog();
    for (let count = 0; count < EVENTS; count++) await store(String(count));
    await queue.close();
    const readBefore = await countReadRows();
    queue = open();
    let handled = 0;
    queue.work(createHandlers().onUnhandled(() => void handled++));
    await until(() => handled === EVENTS, 20_000);
    await queue.close();
    expect((await countReadRows()) - readBefore).toBeLessThan(BACKLOG);
  });

  it("lets the process that releases the events of a dead one read no others", async () => {
    await addBacklog();
    await server.query("insert into push.push_lane (id, queue, owner) values ('lane', 'q', 1)");
    await store("locked");
    await server.query(`update push._private_jobs set locked_by = 'lane', locked_at = now()
      where key is not null and task_id = (select id from push._private_tasks where identifier = 'q')`);
    await queue.close();
    const readBefore = await countReadRows();
    queue = open();
    await until(
      async () => (await server.query("select from push.push_lane")).length === 0,
      20_000,
    );
    await queue.close();
    expect((await countReadRows()) - readBefore).toBeLessThan(BACKLOG);
  });

  it("lets Graphile Worker find locked events without reading the others", async () => {
    await addBacklog();
    await server.query("analyze push._private_jobs");
    const rows = await server.query(`explain update push._private_jobs
      set locked_at = null, locked_by = null, run_at = greatest(run_at, now())
      where locked_at < now() - interval '4 hours'`);
    expect(JSON.stringify(rows)).toContain("push_job_locked_at");
  });

  it("keeps others who use Graphile Worker waiting for at most a second at a time", async () => {
    await queue.close();
    const tables = ["version", "uuid", "outcome", "letter", "process", "lane"].map(
      (name) => `push.push_${name}`,
    );
    await server.query(`drop table ${tables.join(", ")}`);
    await server.query(`drop index push.push_job_task, push.push_job_locked_by,
      push.push_job_locked_at`);
    const other = new Client({ connectionString: server.url });
    await other.connect();
    // Each later one waits for the transaction that adds a task.
    await other.query("select push.add_job('other')");
    await other.query("begin");
    await other.query("select push.add_job('other')");
    queue = open();
    const ready = queue.ready();
    for (let count = 0; count < 5; count++) {
      const startMs = performance.now();
      await server.query("select push.add_job('other')");
      expect(performance.now() - startMs).toBeLessThan(3_000);
    }
    await other.query("commit");
    await other.end();
    await ready;
    await store("first");
    expect(await queue.stats()).toMatchObject({ waiting: 1 });
  });
});
