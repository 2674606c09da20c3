/** What docs/frameworks.md says of functions that freeze: a process that is stopped after each response. */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { WaitOptions } from "express-push-verification";
import { createChildProcesses } from "../support/child-processes";
import { openQueue } from "../support/engine";
import { describeNeeds } from "../support/platform";
import { describeWithPostgres, startPostgres, type PostgresProcess } from "../support/postgres";
import { createReceiver } from "../support/receivers";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { startRedisProxy } from "../support/redis-proxy";
import { CHALLENGE_SID, eventRequest, type TestRequest } from "../support/webhook-requests";

const processes = createChildProcesses(join(__dirname, "..", "support", "frozen-function.ts"));
afterEach(() => processes.killAll());

type Invocation = { request: TestRequest } | { wait: WaitOptions };

/** Starts a function; `seen` has what its handlers do, and each result, at which it is frozen. */
async function startFunction(kind: string, options: object) {
  const seen: unknown[] = [];
  let onMessage = (_message: unknown): void => {};
  const child: ChildProcess = await processes.start([kind, JSON.stringify(options)], (message) =>
    onMessage(message),
  );
  child.kill("SIGSTOP");
  return {
    child,
    seen,
    /** Thaws it for one request, and resolves with the result. */
    async invoke(invocation: Invocation, onBegan = (): void => {}): Promise<unknown> {
      const responded = new Promise<unknown>((resolve) => {
        onMessage = (message) => {
          const result = (message as { result?: unknown }).result;
          seen.push(result ?? message);
          if (message === "began") onBegan();
          if (result === undefined) return;
          child.kill("SIGSTOP");
          resolve(result);
        };
      });
      child.kill("SIGCONT");
      child.send(invocation);
      return responded;
    },
  };
}

const request = eventRequest("factor.created");

describeNeeds("signals")("a function that freezes after its response", () => {
  it("has finished its handlers by default", async () => {
    const one = await startFunction("", {});
    await one.invoke({ request }, () => one.child.send("finish"));
    expect(one.seen).toEqual(["began", "ended", 200]);
  });

  it('stops its handlers in the middle with acknowledge: "before", until its next request', async () => {
    const one = await startFunction("", { acknowledge: "before" });
    await one.invoke({ request });
    expect(one.seen).toEqual(["began", 200]);
    one.child.send("finish");
    await one.invoke({ request: eventRequest("factor.deleted", { uuid: "next" }) });
    expect(one.seen.slice(2)).toContain("ended");
  });
});

const describeEngine = { redis: describeWithRedis, postgres: describeWithPostgres };

describe.each(["redis", "postgres"] as const)("with a queue in %s", (kind) => {
  describeEngine[kind]("", () => {
    let proxy: Awaited<ReturnType<typeof startRedisProxy>>;
    let postgres: PostgresProcess | undefined;
    beforeEach(async () => {
      if (kind === "postgres") postgres = await startPostgres();
      proxy = await startRedisProxy((postgres ?? (await startRedis())).port);
    });
    afterEach(async () => {
      await processes.killAll();
      proxy.close();
      await (postgres?.remove() ?? stopRedis());
    });

    const placeOf = () =>
      kind === "redis"
        ? { name: "function", connection: proxy.url }
        : {
            name: "function",
            connection: `postgres://push@127.0.0.1:${proxy.port}/postgres`,
            maxConnections: 3,
          };

    it("stores and waits over connections that were lost while it was frozen", async () => {
      const one = await startFunction(kind, placeOf());
      expect(await one.invoke({ request })).toBe(200);
      proxy.swallow();
      const next = eventRequest("factor.deleted", { uuid: "next" });
      expect(await one.invoke({ request: next })).toBe(200);

      // Another instance, with connections of its own, receives the approval.
      proxy.swallow();
      const queue = openQueue(kind, placeOf());
      await queue.ready();
      const other = createReceiver({ queue, methods: ["POST"] });
      const wait = { challengeSid: CHALLENGE_SID, entityIdentity: "user-7f3a-22" };
      const waiting = one.invoke({ wait });
      expect(await other.receive(eventRequest("challenge.approved"))).toBe(200);
      expect(await waiting).toBe("challenge.approved");
      expect((await queue.stats()).waiting).toBe(3);
      await other.push.close();
      await queue.close();
    });
  });
});
