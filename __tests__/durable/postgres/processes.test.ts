import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { postgresQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent } from "../../support/durable";
import { describeWithPostgres } from "../../support/postgres";
import { startPostgresProcess, type PostgresProcess } from "../../support/postgres-server";
import { until } from "../../support/redis";

const script = join(__dirname, "..", "..", "support", "postgres-child.ts");
const slowEvent = () => queuedEvent(eventFixture("factor.created", { uuid: "slow" }));

jest.setTimeout(60_000);

describeWithPostgres("processes on one Postgres", () => {
  const children = new Set<ChildProcess>();
  let server: PostgresProcess;
  let queue: DurableQueue;
  let messages: Set<string>;

  beforeAll(async () => {
    server = await startPostgresProcess();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    messages = new Set();
    queue = postgresQueue({ connection: server.url, name: "q", logger: silent });
    await queue.ready();
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
    await queue.close({ deadlineMs: 0 });
    await server.query("drop schema push cascade");
  });

  async function start(lanes: number): Promise<ChildProcess> {
    const child = fork(script, [server.url, String(lanes)], { execArgv: ["--import", "tsx"] });
    children.add(child);
    child.on("message", (message) => messages.add(message as string));
    await once(child, "message");
    return child;
  }

  async function kill(child: ChildProcess): Promise<void> {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    children.delete(child);
  }

  it("lose no event that they stored when they are killed", async () => {
    const running = [await start(4), await start(4)];
    for (let kills = 0; kills < 4; kills++) {
      await sleep(300 + Math.random() * 500);
      await kill(running[kills % 2]!);
      running[kills % 2] = await start(4);
    }
    for (const child of running) await kill(child);
    const handled = new Set<string>();
    queue.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
    await until(async () => {
      const { waiting, active, delayed } = await queue.stats();
      return waiting + active + delayed === 0;
    }, 30_000);
    const listed = (word: string) =>
      [...messages].flatMap((text) => (text.startsWith(word) ? [text.slice(word.length + 1)] : []));
    const stored = listed("stored");
    expect(stored.length).toBeGreaterThan(50);
    const done = new Set(listed("done"));
    expect(stored.filter((uuid) => !done.has(uuid) && !handled.has(uuid))).toEqual([]);
    expect(await server.query("select id from push.push_lane")).not.toHaveLength(0);
  });

  it("runs the handlers of a killed process again within 10 s", async () => {
    const child = await start(0);
    await queue.store(slowEvent(), 1e12);
    await until(() => messages.has("began slow"));
    await kill(child);
    const killedAtMs = performance.now();
    const attempts: number[] = [];
    queue.work(createHandlers().onUnhandled((_event, { attempt }) => void attempts.push(attempt)));
    await until(() => attempts.length > 0, 15_000);
    expect(performance.now() - killedAtMs).toBeLessThan(10_000);
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
    expect(await queue.stats()).toMatchObject({ workers: 1 });
    child.send("end");
    await once(child, "exit");
    children.delete(child);
    expect(await queue.stats()).toMatchObject({ workers: 0 });
    expect(await server.query("select id from push.push_lane")).toEqual([]);
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
