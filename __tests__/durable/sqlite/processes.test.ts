import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createHandlers } from "express-push-verification";
import { sqliteQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { connect } from "../../../lib/durable/sqlite/node-sqlite";
import { createChildProcesses } from "../../support/child-processes";
import { queuedEvent, sidOf, silent } from "../../support/durable";
import { measureLateness } from "../../support/lateness";
import { until } from "../../support/redis";
import { createFile, removeFiles } from "../../support/sqlite";

jest.setTimeout(60_000);

const script = join(__dirname, "..", "..", "support", "queue-process.ts");
const processes = createChildProcesses(script);
let file: string;
let log: string;
let queue: DurableQueue | undefined;

beforeEach(() => {
  file = createFile();
  log = `${file}.log`;
  writeFileSync(log, "");
});
afterEach(async () => {
  processes.killAll();
  await queue?.close({ deadlineMs: 0 });
  removeFiles();
});

const start = (lanes: number, onMessage: (message: string) => void): Promise<ChildProcess> =>
  processes.start(["sqlite", JSON.stringify({ file }), log, String(lanes)], onMessage);

async function open(): Promise<DurableQueue> {
  queue = sqliteQueue({ file, name: "q", logger: silent });
  await queue.ready();
  return queue;
}

const readLog = () => new Set(readFileSync(log, "utf8").split("\n"));

describe.each([1, 2])("%d processes under load", (count) => {
  it("lose no event that they stored when they are killed", async () => {
    const stored = new Set<string>();
    const collect = (message: string) => void stored.add(message);
    const running = await Promise.all(Array.from({ length: count }, () => start(4, collect)));
    for (let kills = 0; kills < 4; kills++) {
      await sleep(100 + Math.random() * 400);
      await processes.kill(running[kills % count]!);
      running[kills % count] = await start(4, collect);
    }
    await sleep(200);
    for (const child of running) await processes.kill(child);
    stored.delete("ready");
    expect(stored.size).toBeGreaterThan(50);

    const last = await open();
    const handled = new Set<string>();
    last.work(createHandlers().onUnhandled(({ uuid }) => void handled.add(uuid)));
    await until(async () => {
      const { waiting, active, delayed } = await last.stats();
      return waiting + active + delayed === 0;
    }, 60_000);
    const logged = readLog();
    expect([...stored].filter((uuid) => !logged.has(uuid) && !handled.has(uuid))).toEqual([]);
    await last.close();
    const connection = connect(file);
    expect(connection.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    connection.close();
  }, 180_000);
});

it("runs the handlers of a killed process again within 10 s", async () => {
  const last = await open();
  const messages: string[] = [];
  const child = await start(0, (message) => messages.push(message));
  await last.store(queuedEvent(eventFixture("factor.created", { uuid: "slow" })), 1e12);
  await until(() => messages.includes("began slow"));
  await processes.kill(child);
  const [killedAtMs, lateness] = [performance.now(), measureLateness()];
  const attempts: number[] = [];
  last.work(createHandlers().onUnhandled((_event, { attempt }) => void attempts.push(attempt)));
  await until(() => attempts.length > 0, 15_000);
  expect(performance.now() - killedAtMs - lateness.stop()).toBeLessThan(10_000);
  expect(attempts).toEqual([2]);
}, 90_000);

it("keeps the events of a process that lives", async () => {
  const last = await open();
  const messages: string[] = [];
  await start(0, (message) => messages.push(message));
  await last.store(queuedEvent(eventFixture("factor.created", { uuid: "slow" })), 1e12);
  await until(() => messages.includes("began slow"));
  let count = 0;
  last.work(createHandlers().onUnhandled(() => void count++));
  await sleep(8_000);
  expect(count).toBe(0);
  expect(await last.stats()).toMatchObject({ active: 1, workers: 2 });
}, 90_000);

it("counts no worker of a process that closed its queue", async () => {
  const last = await open();
  const child = await start(0, () => {});
  child.send("end");
  await once(child, "exit");
  expect(await last.stats()).toMatchObject({ workers: 0 });
}, 90_000);

it("resolves a wait for what another process stores", async () => {
  const last = await open();
  const other = sqliteQueue({ file, name: "q", logger: silent });
  await other.ready();
  const wait = { account: "", challengeSid: sidOf(1), timeoutMs: 20_000 };
  const waiting = last.outcomes.wait(wait);
  await sleep(300);
  const event = eventFixture("challenge.denied", { challenge_sid: sidOf(1) });
  await other.store(queuedEvent(event), 1e12);
  const startMs = performance.now();
  expect(await waiting).toEqual(event);
  expect(performance.now() - startMs).toBeLessThan(10_000);
  await other.close();
});
