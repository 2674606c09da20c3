import { createHandlers } from "express-push-verification";
import {
  postgresQueue,
  type DurableQueue,
  type EventWorker,
} from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";
import { startRedisProxy, type RedisProxy } from "../../support/redis-proxy";

jest.setTimeout(120_000);

describeWithPostgres("a claim whose reply is lost while its worker closes", () => {
  let server: PostgresProcess;
  let proxy: RedisProxy;
  let queue: DurableQueue;
  let handled: string[];
  let busy: Promise<void>;
  let finishBusy: () => void;

  beforeEach(async () => {
    handled = [];
    busy = new Promise((resolve) => (finishBusy = resolve));
    server = await startPostgresProcess();
    proxy = await startRedisProxy(server.port);
    const connection = server.url.replace(String(server.port), String(proxy.port));
    queue = postgresQueue({ connection, name: "q", logger: silent });
    await queue.ready();
  });
  afterEach(async () => {
    finishBusy();
    await queue.close({ deadlineMs: 0 });
    proxy.close();
    await server.remove();
  });

  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);

  function work(): EventWorker {
    const handlers = createHandlers().onUnhandled(async ({ uuid }) => {
      handled.push(uuid);
      if (uuid === "busy") await busy;
    });
    return queue.work(handlers, { concurrency: 1, handlerTimeoutMs: 60_000 });
  }

  /** Makes a claim take 2.5 s: Postgres ends it after 4 s. */
  const slowClaims = () =>
    server.query(`
      create function slow_claim() returns trigger language plpgsql as
        $$ begin perform pg_sleep(2.5); return new; end $$;
      create trigger slow_claim before update on push._private_jobs for each row
        when (old.locked_by is null and new.locked_by is not null) execute function slow_claim()`);
  const dropTrigger = () => server.query("drop trigger slow_claim on push._private_jobs");
  const isClaiming = async () =>
    (await server.query("select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0;

  it("leaves the event to the next worker, although the claim runs on", async () => {
    await store("lost");
    await slowClaims();
    const worker = work();
    await until(isClaiming);
    const closed = worker.close();
    proxy.cut();
    await closed;
    expect(await isClaiming()).toBe(true);
    // It waits for the end of the claim.
    await dropTrigger();
    expect(await queue.stats()).toMatchObject({ active: 1 });
    work();
    await until(() => handled.length > 0, 20_000);
    expect(handled).toEqual(["lost"]);
  });

  it("leaves the event to the other workers of its process", async () => {
    work();
    await store("busy");
    await until(() => handled.includes("busy"));
    await store("lost");
    await slowClaims();
    const worker = work();
    await until(isClaiming);
    proxy.swallow();
    const closed = worker.close();
    await dropTrigger();
    const [row] = await server.query(
      "select count(*)::int as count from push.jobs where locked_by is not null",
    );
    expect(row).toEqual({ count: 2 });
    proxy.cut();
    await closed;
    expect(await queue.stats()).toMatchObject({ active: 1, waiting: 1 });
    finishBusy();
    await until(() => handled.length === 2);
    expect(handled).toEqual(["busy", "lost"]);
  });
});
