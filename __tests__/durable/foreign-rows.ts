/** Rows that another program changed; run on each engine whose tables are SQL. */
import { PermanentError } from "express-push-verification";
import { receiveInto, silent, type DurableReceiver } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { collect, until } from "../support/waiting";
import { stopServers } from "../support/servers";
import { eventRequest } from "../support/webhook-requests";

const UNREADABLE = `'{"params":[["uuid",{"a":1}],["type",5]],"account":{},"receiver":[]}'`;
const ERRORS = ["'x'", "'{}'", "'5'", "'[1]'", `'[{"at":"x"}]'`, `'[{"at":1e300,"error":{}}]'`];
const BODIES = ["'{}'", "'no JSON'", "'5'", `'${"[".repeat(5_000)}'`, UNREADABLE];
const ASSIGNMENTS = [
  ...ERRORS.map((errors) => `errors = ${errors}`),
  ...BODIES.map((body) => `body = ${body}`),
  ...["started", "failures", "stalls"].map((name) => `${name} = 2147483647`),
  ...["run_at", "pause", "owner"].map((name) => `${name} = 9223372036854775807`),
  "run_at = -9223372036854775807",
  "failed_at = 9223372036854775807",
];

/** Describes that a row ends no worker, and keeps no other row from it. */
export function describeForeignRows(engine: StoppableEngine): void {
  const { change } = engine;
  if (change === undefined) return;
  let receiver: DurableReceiver;

  beforeEach(() => engine.start());
  afterEach(async () => {
    await receiver.close();
    await stopServers();
    await engine.stop();
  });

  it("are dead letters, and the others are handled", async () => {
    receiver = await receiveInto(engine.open({ logger: silent, attempts: 2, backoff: 10 }));
    const { push, queue, deliver } = receiver;
    const handled: string[] = [];
    push.onAny(({ uuid }) => {
      if (uuid.startsWith("row")) throw new PermanentError("no such user");
      handled.push(uuid);
    });
    await queue.ready();
    const store = async (uuid: string) =>
      expect(await deliver(eventRequest("factor.created", { uuid }))).toBe(200);
    for (const index of ASSIGNMENTS.keys()) await store(`row-${index}`);
    await store("second");
    for (const [index, assignment] of ASSIGNMENTS.entries()) await change(assignment, index);
    queue.work(push.handlers);
    await until(() => handled.includes("second"));
    const areDead = async () => (await queue.stats()).deadLetters === ASSIGNMENTS.length;
    await until(areDead);
    await store("third");
    await until(() => handled.includes("third"));
    for (const { uuid, error, failedAt } of await collect(queue.deadLetters())) {
      expect([typeof uuid, typeof error]).toEqual(["string", "string"]);
      expect(failedAt.getTime()).not.toBeNaN();
    }
    expect(await queue.retryAll()).toBe(ASSIGNMENTS.length);
    await until(areDead);
    expect(handled).toEqual(["second", "third"]);
  });
}
