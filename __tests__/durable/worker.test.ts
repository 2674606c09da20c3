import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { pushWebhooks } from "express-push-verification";
import { durableQueue, type DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { AUTH_TOKEN, PUBLIC_URL } from "../support/calls";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../support/redis";

const root = join(__dirname, "..", "..");

/** A worker in a process of its own, which says what it handles. */
function startWorkerProcess(url: string): { child: ChildProcess; said: string[] } {
  const child = fork(join(root, "__tests__", "support", "worker-process.ts"), [url], {
    cwd: root,
    execArgv: ["--import", "tsx"],
    stdio: "ignore",
  });
  const said: string[] = [];
  child.on("message", (message: string) => void said.push(message));
  return { child, said };
}

describeWithRedis("workers", () => {
  let server: RedisServer;
  let queue: DurableQueue;
  beforeEach(async () => {
    server = await startRedis();
    queue = durableQueue({ connection: server.url, attempts: 1 });
    await queue.ready();
  });
  afterEach(async () => {
    await queue.close({ deadlineMs: 200 });
    await stopRedis();
  });
  const store = (uuid: string) => {
    const event = eventFixture("factor.created", { uuid });
    return queue.store({ uuid, contentHash: "h", event, authTokenIndex: 0 });
  };

  it("run again within 10 s what a killed one had begun, and nothing of what it had done", async () => {
    const [first, second] = [startWorkerProcess(server.url), startWorkerProcess(server.url)];
    await until(() => first.said.length > 0 && second.said.length > 0, 20_000);
    await store("done");
    await until(() => [...first.said, ...second.said].includes("done done"));
    await store("slow");
    const begun = ({ said }: typeof first) => said.includes("began slow");
    await until(() => begun(first) || begun(second));
    const [killed, other] = begun(first) ? [first, second] : [second, first];
    killed.child.kill("SIGKILL");
    const killedMs = performance.now();
    await until(() => other.said.includes("began slow"), 12_000);
    expect(performance.now() - killedMs).toBeLessThan(10_000);
    const all = [...first.said, ...second.said];
    expect(all.filter((line) => line === "done done")).toHaveLength(1);
    other.child.kill("SIGKILL");
    await once(other.child, "exit");
  }, 60_000);

  it("tell of what became a dead letter, and only of that", async () => {
    const told: unknown[] = [];
    const listener = (message: unknown) => void told.push(message);
    subscribe("express-push-verification:dead-lettered", listener);
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
    push.onError(() => {});
    push.on("factor.created", ({ uuid }) => {
      if (uuid === "bad") throw new Error("no");
    });
    queue.work(push);
    await store("good");
    await store("bad");
    await until(() => told.length > 0);
    unsubscribe("express-push-verification:dead-lettered", listener);
    expect(told).toEqual([{ type: "factor.created", attempts: 1 }]);
    expect(JSON.stringify(told)).not.toContain("user-7f3a-22");
  });

  it("say why several handlers failed", async () => {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, queue });
    push.onError(() => {});
    for (const why of ["one", "two"])
      push.on("factor.created", () => Promise.reject(new Error(why)));
    push.on("factor.created", () => Promise.reject("a text"));
    queue.work(push);
    await store("bad");
    await until(async () => (await queue.stats()).deadLetters === 1);
    for await (const { error } of queue.deadLetters())
      expect(error).toBe("HANDLER_FAILED: one; two");
  });
});
