import { eventFixture } from "express-push-verification/testing";
import {
  createSlowHandlers,
  queuedEvent,
  sidOf,
  storeFactor,
  untilStats,
} from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { usePostgres } from "../../support/postgres-engine";
import { until } from "../../support/waiting";

describeWithPostgres("an outage of Postgres", () => {
  const app = usePostgres();

  it("keeps waits and the events of running handlers, and opens one listening connection a process", async () => {
    const { server, open } = app;
    const [queue, other] = [open(), open()];
    await Promise.all([queue.ready(), other.ready()]);
    const { handlers, handled, finish } = createSlowHandlers();
    for (const one of [queue, other]) one.work(handlers, { handlerTimeoutMs: 60_000 });
    await storeFactor(queue, "slow");
    await until(() => handled.length === 1);
    const waiting = other.outcomes.wait({ account: "", challengeSid: sidOf(1), timeoutMs: 50_000 });
    // Simulates an outage that is longer than a lease.
    await server.query("update push.member set seen_at = seen_at - 60000; checkpoint");
    await server.kill("SIGKILL");
    await server.start();
    await Promise.all([queue.ready(), other.ready()]);
    const outcome = eventFixture("challenge.approved", { challenge_sid: sidOf(1) });
    await queue.store(queuedEvent(outcome), Infinity);
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
    await untilStats(queue, { active: 0 });
    expect(handled).toEqual(["slow", outcome.uuid]);
  });
});
