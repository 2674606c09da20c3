import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, sidOf, silent } from "../../support/durable";
import { measureLateness } from "../../support/lateness";
import { describeWithPostgres } from "../../support/postgres";
import { createPostgres, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

jest.setTimeout(60_000);

describeWithPostgres("outages of Postgres", () => {
  let server: PostgresProcess;
  let queue: DurableQueue;
  let handled: string[];

  beforeEach(async () => {
    handled = [];
    server = await createPostgres();
    queue = postgresQueue({ connection: server.url, name: "q", logger: silent });
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 0 });
    await server.remove();
  });

  const store = (uuid: string) =>
    queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);
  const work = () =>
    queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.push(uuid)));

  it("works within 2 s after a Postgres that starts later is up", async () => {
    work();
    const stored = store("early");
    await sleep(1_000);
    await server.start();
    const [upAtMs, lateness] = [performance.now(), measureLateness()];
    expect(await stored).toBe("new");
    await until(() => handled.length === 1, 20_000);
    expect(performance.now() - upAtMs - lateness.stop()).toBeLessThan(2_000);
  });

  it("rejects a store with STORE_UNAVAILABLE when there is no Postgres until its deadline", async () => {
    const event = queuedEvent(eventFixture("factor.created"));
    const stored = queue.store(event, performance.now() + 300);
    await expect(stored).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("loses nothing when Postgres is killed under load, and goes on within 1 s after it is up", async () => {
    await server.start();
    await queue.ready();
    work();
    const stored: string[] = [];
    const ending = new AbortController();
    const lane = async (name: number) => {
      for (let count = 0; !ending.signal.aborted; count++) {
        const uuid = `${name}-${count}`;
        await store(uuid);
        stored.push(uuid);
        await sleep(10);
      }
    };
    const lanes = [0, 1, 2, 3].map(lane);
    for (let kill = 0; kill < 3; kill++) {
      await sleep(500);
      await server.kill("SIGKILL");
      await sleep(200);
      await server.start();
      const [upAtMs, lateness] = [performance.now(), measureLateness()];
      const [storedBefore, handledBefore] = [stored.length, handled.length];
      await until(() => stored.length > storedBefore && handled.length > handledBefore);
      expect(performance.now() - upAtMs - lateness.stop()).toBeLessThan(1_000);
    }
    ending.abort();
    await Promise.all(lanes);
    await until(() => new Set(handled).size >= stored.length, 10_000);
    expect(stored.filter((uuid) => !handled.includes(uuid))).toEqual([]);
    await until(async () => (await queue.stats()).active === 0, 10_000);
  });

  it("resolves a wait that began before Postgres was killed", async () => {
    await server.start();
    await queue.ready();
    const waiting = queue.outcomes.wait({ account: "", challengeSid: sidOf(1), timeoutMs: 20_000 });
    await server.kill("SIGKILL");
    await server.start();
    const event = eventFixture("challenge.approved", { challenge_sid: sidOf(1) });
    await queue.store(queuedEvent(event), Number.POSITIVE_INFINITY);
    expect(await waiting).toEqual(event);
  });

  it("goes on after Postgres was frozen", async () => {
    await server.start();
    await queue.ready();
    work();
    await store("a");
    await until(() => handled.includes("a"));
    server.signalAll("SIGSTOP");
    const stored = store("b");
    await sleep(3_000);
    server.signalAll("SIGCONT");
    expect(await stored).toBe("new");
    await until(() => handled.includes("b"));
    expect(handled).toEqual(["a", "b"]);
  });

  it("leaves the event of a handler that runs when the reply to a claim is lost", async () => {
    await server.start();
    await queue.ready();
    const handlers = createHandlers().onUnhandled(async ({ uuid }) => {
      handled.push(uuid);
      if (uuid === "slow") await sleep(6_000);
    });
    queue.work(handlers);
    await store("slow");
    await until(() => handled.includes("slow"));
    // Until the claim of "slow" is on the disk: it does not wait for it, and a crash would undo it.
    await sleep(1_000);
    // The poll has an idle lane claim an event meanwhile.
    server.signalAll("SIGSTOP");
    await sleep(1_200);
    await server.kill("SIGKILL");
    await server.start();
    await store("next");
    await until(() => handled.includes("next"));
    await until(async () => (await queue.stats()).active === 0, 10_000);
    expect(handled).toEqual(["slow", "next"]);
  });

  it("leaves the events of handlers that run during an outage of 10 s", async () => {
    await server.start();
    const other = postgresQueue({ connection: server.url, name: "q", logger: silent });
    await Promise.all([queue.ready(), other.ready()]);
    const handlers = createHandlers().onUnhandled(async ({ uuid }) => {
      handled.push(uuid);
      await sleep(18_000);
    });
    for (const one of [queue, other]) one.work(handlers, { handlerTimeoutMs: 30_000 });
    await store("slow");
    await until(() => handled.length === 1);
    // Until the claim is on the disk: a crash would undo it.
    await sleep(1_000);
    await server.kill("SIGKILL");
    await sleep(10_000);
    await server.start();
    await Promise.all([queue.ready(), other.ready()]);
    await until(async () => (await queue.stats()).active === 0, 20_000);
    expect(handled).toEqual(["slow"]);
    await other.close({ deadlineMs: 0 });
  });

  it("closes within its deadline while Postgres is frozen", async () => {
    await server.start();
    await queue.ready();
    work();
    await sleep(200);
    server.signalAll("SIGSTOP");
    const startMs = performance.now();
    await queue.close({ deadlineMs: 300 });
    expect(performance.now() - startMs).toBeLessThan(4_000);
    server.signalAll("SIGCONT");
  });
});
