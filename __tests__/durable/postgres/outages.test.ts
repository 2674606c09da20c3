import type { PushEvent } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { createSlowHandlers, queuedEvent, sidOf, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/waiting";

jest.setTimeout(60_000);

describeWithPostgres("an outage of Postgres", () => {
  let server: PostgresProcess;
  const opened: DurableQueue[] = [];

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(async () => {
    for (const queue of opened) await queue.close({ deadlineMs: 0 });
    await server.remove();
  });

  async function open(): Promise<DurableQueue> {
    const queue = postgresQueue({ connection: server.url, name: "q", logger: silent });
    opened.push(queue);
    await queue.ready();
    return queue;
  }

  it("keeps waits and the events of running handlers, and opens one listening connection a process", async () => {
    const [queue, other] = [await open(), await open()];
    const { handlers, handled, finish } = createSlowHandlers();
    for (const one of [queue, other]) one.work(handlers, { handlerTimeoutMs: 60_000 });
    const store = (event: PushEvent) => queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    await store(eventFixture("factor.created", { uuid: "slow" }));
    await until(() => handled.length === 1);
    const waiting = other.outcomes.wait({ account: "", challengeSid: sidOf(1), timeoutMs: 50_000 });
    // Simulates an outage that is longer than a lease.
    await server.query("update push.member set seen_at = seen_at - 60000; checkpoint");
    await server.kill("SIGKILL");
    await server.start();
    await Promise.all([queue.ready(), other.ready()]);
    const outcome = eventFixture("challenge.approved", { challenge_sid: sidOf(1) });
    await store(outcome);
    expect(await waiting).toEqual(outcome);
    // From then on, each process would take the events of one that does not beat.
    await until(async () => {
      const members = await server.query(
        "select seen_at - since > 5000 as is_old from push.member",
      );
      return members.filter(({ is_old }) => is_old === true).length === 4;
    });
    const listening = await server.query(
      "select pid from pg_stat_activity where query ilike '%listen%' and pid <> pg_backend_pid()",
    );
    expect(listening.length).toBeLessThanOrEqual(2);
    finish();
    await until(async () => (await queue.stats()).active === 0, 20_000);
    expect(handled).toEqual(["slow", outcome.uuid]);
  });
});
