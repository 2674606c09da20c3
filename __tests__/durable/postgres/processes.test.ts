import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { createChildProcesses } from "../../support/child-processes";
import { queuedEvent, silent } from "../../support/durable";
import { measureLateness } from "../../support/lateness";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

const script = join(__dirname, "..", "..", "support", "queue-process.ts");
const slowEvent = () => queuedEvent(eventFixture("factor.created", { uuid: "slow" }));

jest.setTimeout(180_000);

describeWithPostgres("processes on one Postgres", () => {
  const processes = createChildProcesses(script, { execArgv: ["--import", "tsx"] });
  const folder = mkdtempSync(join(tmpdir(), "push-processes-"));
  const log = join(folder, "log");
  let server: PostgresProcess;
  let queue: DurableQueue;
  let messages: Set<string>;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await server.remove();
  });
  beforeEach(async () => {
    messages = new Set();
    writeFileSync(log, "");
    queue = postgresQueue({ connection: server.url, name: "q", logger: silent });
    await queue.ready();
  });
  afterEach(async () => {
    processes.killAll();
    await queue.close({ deadlineMs: 0 });
    await server.query("drop schema push cascade");
  });

  const start = (lanes: number): Promise<ChildProcess> =>
    processes.start(
      ["postgres", JSON.stringify({ connection: server.url }), log, String(lanes)],
      (text) => messages.add(text),
    );

  it("lose no event that they stored when they are killed", async () => {
    const running = [await start(4), await start(4)];
    for (let kills = 0; kills < 4; kills++) {
      await sleep(300 + Math.random() * 500);
      await processes.kill(running[kills % 2]!);
      running[kills % 2] = await start(4);
    }
    for (const child of running) await processes.kill(child);
    const handled = new Set<string>();
    queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
    await until(async () => {
      const { waiting, active, delayed } = await queue.stats();
      return waiting + active + delayed === 0;
    }, 60_000);
    messages.delete("ready");
    expect(messages.size).toBeGreaterThan(50);
    const logged = new Set(readFileSync(log, "utf8").split("\n"));
    expect([...messages].filter((uuid) => !logged.has(uuid) && !handled.has(uuid))).toEqual([]);
  });

  it("runs the handlers of a killed process again within 10 s", async () => {
    const child = await start(0);
    await queue.store(slowEvent(), 1e12);
    await until(() => messages.has("began slow"));
    await processes.kill(child);
    const [killedAtMs, lateness] = [performance.now(), measureLateness()];
    const attempts: number[] = [];
    queue.work(createHandlers().onUnhandled((_event, { attempt }) => void attempts.push(attempt)));
    await until(() => attempts.length > 0, 15_000);
    expect(performance.now() - killedAtMs - lateness.stop()).toBeLessThan(10_000);
    expect(attempts).toEqual([2]);
  });

  it("leaves the events of a process that lives, and counts its workers", async () => {
    await start(0);
    await queue.store(slowEvent(), 1e12);
    await until(() => messages.has("began slow"));
    let count = 0;
    queue.work(createHandlers().onUnhandled(() => void count++));
    await sleep(8_000);
    expect(count).toBe(0);
    expect(await queue.stats()).toMatchObject({ active: 1, workers: 2 });
  });

  it("forgets a process that closed its queue, and lets it end", async () => {
    const child = await start(0);
    await until(async () => (await queue.stats()).workers === 1);
    child.send("end");
    await once(child, "exit");
    expect(await queue.stats()).toMatchObject({ workers: 0 });
  });

  it("leaves the events of a process while Postgres takes no writes, and it cannot register", async () => {
    const other = postgresQueue({ connection: server.url, name: "q", logger: silent });
    await other.ready();
    const attempts: number[] = [];
    const handlers = createHandlers().onUnhandled(async (_event, { attempt }) => {
      attempts.push(attempt);
      await sleep(16_000);
    });
    for (const one of [queue, other]) one.work(handlers, { handlerTimeoutMs: 30_000 });
    await queue.store(slowEvent(), 1e12);
    await until(() => attempts.length === 1);
    await sleep(1_000);
    await server.query(`create function fail() returns trigger language plpgsql as
        $$ begin raise exception 'no writes'; end $$;
      create trigger fail before insert or update on push.member for each row
        execute function fail()`);
    await sleep(11_000);
    await server.query("drop function fail cascade");
    await until(async () => (await queue.stats()).workers === 2);
    await until(async () => (await queue.stats()).active === 0, 20_000);
    expect(attempts).toEqual([1]);
    await other.close();
  });

  it("uses one connection that listens for each process", async () => {
    queue.work(createHandlers().onUnhandled(() => {}));
    const waiting = queue.outcomes.wait({ account: "", challengeSid: "YC1", timeoutMs: 1_000 });
    await sleep(500);
    const rows = await server.query(
      "select pid from pg_stat_activity where query ilike '%listen%'",
    );
    expect(rows.length).toBeLessThanOrEqual(2);
    await expect(waiting).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT" });
  });
});
