/** Rows that another program changed; run on each engine whose tables are SQL. */
import { PermanentError } from "express-push-verification";
import { receiveInto, silent, type DurableReceiver } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { collect, until } from "../support/waiting";
import { stopServers } from "../support/servers";
import { eventRequest } from "../support/webhook-requests";

const INT = 2_147_483_647;
const UNREADABLE = `'{"params":[["uuid",{"a":1}],["type",5]],"account":{},"receiver":[]}'`;

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

  it.each([
    ...["'x'", "'{}'", "'5'", "'[1]'", `'[{"at":"x"}]'`, `'[{"at":1e300,"error":{}}]'`].map(
      (errors) => `errors = ${errors}`,
    ),
    ...["'{}'", "'no JSON'", "'5'", `'${"[".repeat(5_000)}'`, UNREADABLE].map(
      (body) => `body = ${body}`,
    ),
    ...["started", "failures", "stalls"].map((name) => `${name} = ${INT}`),
    ...["run_at", "pause", "owner"].map((name) => `${name} = 9223372036854775807`),
    "run_at = -9223372036854775807",
    "failed_at = 9223372036854775807",
  ])("is a dead letter, and the others are handled: %s", async (assignment) => {
    receiver = await receiveInto(engine.open({ logger: silent, attempts: 2, backoff: 10 }));
    const { push, queue, deliver } = receiver;
    const handled: string[] = [];
    push.onAny(({ uuid }) => {
      if (uuid === "first") throw new PermanentError("no such user");
      handled.push(uuid);
    });
    await queue.ready();
    for (const uuid of ["first", "second"]) {
      expect(await deliver(eventRequest("factor.created", { uuid }))).toBe(200);
    }
    await change(assignment);
    queue.work(push.handlers);
    await until(() => handled.includes("second"));
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect(await deliver(eventRequest("factor.created", { uuid: "third" }))).toBe(200);
    await until(() => handled.includes("third"));
    const [deadLetter] = await collect(queue.deadLetters());
    expect(deadLetter).toMatchObject({ uuid: expect.any(String), error: expect.any(String) });
    expect(Number.isNaN(deadLetter?.failedAt.getTime())).toBe(false);
    expect(await queue.retryAll()).toBe(1);
    await until(async () => (await queue.stats()).deadLetters === 1);
    expect(handled).toEqual(["second", "third"]);
  });
}
