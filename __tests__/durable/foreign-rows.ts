/** Rows that another program changed; run on each engine whose tables are SQL. */
import { PermanentError } from "express-push-verification";
import { receiveInto, untilStats } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { collect, shorten, until } from "../support/waiting";
import { eventRequest } from "../support/webhook-requests";

const ERRORS = ["'x'", "'{}'", "'[1]'", `'[{"at":"x"}]'`, `'[{"at":1e300,"error":{}}]'`];
const DEEP = "[".repeat(5_000);
const OBJECTS = '{"params":[["uuid",{"a":1}],["type",5]],"account":{},"receiver":[]}';
const NUMBERS = '{"params":[5,null],"account":5}';
const BODIES = ["{}", "no", "null", "[]", DEEP, '{"params":"a"}', NUMBERS, OBJECTS];
const ASSIGNMENTS = [
  ...ERRORS.map((errors) => `errors = ${errors}`),
  ...BODIES.map((body) => `body = '${body}'`),
  ...["started", "failures", "stalls"].map((name) => `${name} = 2147483647`),
  ...["run_at", "pause", "owner"].map((name) => `${name} = 9223372036854775807`),
  "run_at = -9223372036854775807",
  "failed_at = 9223372036854775807",
];

export function describeForeignRows(engine: StoppableEngine): void {
  it("become dead letters without delaying others", async () => {
    // A purge sets an owner that is no member right.
    const timers = shorten("setTimeout", 5_000);
    const { push, queue, deliver } = await receiveInto(engine.open({ attempts: 2, backoff: 10 }));
    const handled: string[] = [];
    push.onAny(({ uuid }) => {
      if (uuid.startsWith("row")) throw new PermanentError("no such user");
      handled.push(uuid);
    });
    const store = async (uuid: string) =>
      expect(await deliver(eventRequest("factor.created", { uuid }))).toBe(200);
    const areDead = () => untilStats(queue, { deadLetters: ASSIGNMENTS.length });
    await queue.ready();
    for (const index of ASSIGNMENTS.keys()) await store(`row-${index}`);
    await store("second");
    for (const [index, sql] of ASSIGNMENTS.entries()) await engine.change?.(sql, index);
    queue.work(push.handlers);
    await until(() => handled.includes("second"));
    await areDead();
    await store("third");
    await until(() => handled.includes("third"));
    const deadLetters = await collect(queue.deadLetters());
    for (const { uuid, accountSid, receiver, error, failedAt } of deadLetters) {
      if (uuid === "")
        expect({ accountSid, receiver }).toEqual({ accountSid: "", receiver: undefined });
      expect(typeof error).toBe("string");
      expect(failedAt.getTime()).not.toBeNaN();
    }
    const unreadable = deadLetters.filter(({ uuid }) => !uuid.startsWith("row-"));
    expect(unreadable.map(({ uuid }) => uuid)).toEqual(BODIES.map(() => ""));
    expect(await queue.retryAll()).toBe(ASSIGNMENTS.length);
    await areDead();
    expect(handled).toEqual(["second", "third"]);
    timers.mockRestore();
  });

  it("may have waited for months", async () => {
    const { queue, deliver } = await receiveInto(engine.open({}));
    await queue.ready();
    await deliver(eventRequest("factor.created"));
    await engine.change?.("run_at = 0", 0);
    expect((await queue.stats()).oldestWaitingMs).toBeGreaterThan(2 ** 31);
  });
}
