import { PermanentError, type PushEvent } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { until } from "../support/waiting";
import { createReceiver } from "../support/receivers";
import { runCommand } from "../support/terminals";
import { eventRequest } from "../support/webhook-requests";

/** Tests the subcommands on a queue that has a dead letter. */
export function testSubcommands(open: () => { store: string; queue: DurableQueue }): void {
  let store: string;
  let queue: DurableQueue;
  let isFixed = false;
  let receiver: ReturnType<typeof createReceiver>;

  beforeAll(async () => {
    ({ store, queue } = open());
    receiver = createReceiver({ queue });
    receiver.push.onAny(() => {
      if (!isFixed) throw new PermanentError("no such order");
    });
    queue.work(receiver.push.handlers);
    expect(await receiver.receive(eventRequest("factor.created"))).toBe(200);
    await until(async () => (await queue.stats()).deadLetters === 1);
  });
  afterAll(() => queue.close());

  const run = (...args: string[]) =>
    runCommand(["queue", ...args, "--name", "cli"], { PUSH_QUEUE: store });

  it("list, retry and discard dead letters, and count", async () => {
    const [{ uuid, account_sid }] = receiver.events as [PushEvent];
    const stats = await run("stats", "--json");
    expect(JSON.parse(stats.stdout)).toMatchObject({ waiting: 0, deadLetters: 1, workers: 1 });

    const deadLetters = await run("dead-letters");
    expect(deadLetters).toMatchObject({ code: 0, stderr: "" });
    expect(deadLetters.stdout).toMatch(`${uuid}\t${account_sid}\t\tfactor.created\t1\t`);
    const json = await run("dead-letters", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject([{ uuid, attempts: 1 }]);
    expect(deadLetters.stdout + json.stdout).not.toContain("user-7f3a-22");

    expect(await run("retry")).toMatchObject({ code: 2, stderr: expect.stringMatching("--all") });
    expect(await run("retry", "no-such-uuid")).toMatchObject({ code: 1 });
    isFixed = true;
    expect(await run("retry", uuid)).toMatchObject({ code: 0, stdout: "retried 1\n" });
    await until(() => receiver.events.length === 2);
    expect(await run("discard", uuid)).toMatchObject({
      code: 1,
      stdout: "There is no such dead letter.\n",
    });
    const all = await run("retry", "--all", "--json");
    expect([all.code, JSON.parse(all.stdout)]).toEqual([0, { retried: 0 }]);
  });

  it("stats of a queue that does not exist names those that do", async () => {
    const args = ["queue", "stats", "--name", "misspelt"];
    const ended = await runCommand(args, { PUSH_QUEUE: store });
    expect(ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/(?=.*misspelt).*\bcli\b/),
    });
  });
}
