import { PermanentError, type PushEvent } from "express-push-verification";
import type { DurableQueue, QueueStats } from "express-push-verification/durable";
import { CONTROL, HOSTILE_UUID } from "../support/control-characters";
import { entityIdentity } from "../support/durable";
import { countTime, until } from "../support/waiting";
import { createReceiver } from "../support/receivers";
import { runCommand } from "../support/terminals";
import { eventRequest } from "../support/webhook-requests";

/** Tests the subcommands on a queue that has a dead letter. */
export function testSubcommands(open: () => { store: string; queue: DurableQueue }): void {
  // A store that does not respond in time is named in stderr.
  countTime();
  it("manage the dead letters and users of a queue that exists", async () => {
    const { store, queue } = open();
    const { push, receive, events } = createReceiver({ queue });
    let isFixed = false;
    push.onAny(() => {
      if (!isFixed) throw new PermanentError(`no order of ${HOSTILE_UUID}`);
    });
    queue.work(push.handlers);
    const run = (line: string, name = "cli") =>
      runCommand(["queue", ...line.split(" "), "--name", name], { PUSH_QUEUE: store });
    // A queue that has workers exists, also before its first event.
    await until(async () => (await run("stats")).code === 0);
    for (const [index, uuid] of [HOSTILE_UUID, crypto.randomUUID()].entries()) {
      expect(await receive(eventRequest("factor.created", { uuid }))).toBe(200);
      await until(async () => (await queue.stats()).deadLetters === index + 1);
    }
    const [, { uuid, account_sid }] = events as [PushEvent, PushEvent];
    await until(async () => {
      const stats = JSON.parse((await run("stats --json")).stdout) as QueueStats;
      return stats.waiting === 0 && stats.deadLetters === 2 && stats.workers === 1;
    });
    const known = expect.stringMatching(/(?=.*misspelt).*\bcli\b/);
    for (const line of [
      "stats",
      "dead-letters",
      "retry --all",
      `retry ${uuid}`,
      `discard ${uuid}`,
    ]) {
      expect(await run(line, "misspelt")).toMatchObject({ code: 1, stdout: "", stderr: known });
    }

    const deadLetters = await run("dead-letters");
    expect(deadLetters).toMatchObject({ code: 0, stderr: "" });
    expect(deadLetters.stdout).toMatch(`${uuid}\t${account_sid}\t\tfactor.created\t1\t`);
    const json = await run("dead-letters --json");
    expect(JSON.parse(json.stdout)).toMatchObject([{ uuid: HOSTILE_UUID }, { uuid, attempts: 1 }]);
    expect((deadLetters.stdout + json.stdout).replaceAll(/[\t\n]/g, "")).not.toMatch(CONTROL);
    expect(deadLetters.stdout + json.stdout).not.toContain("user-7f3a-22");

    expect(await run("retry")).toMatchObject({ code: 2, stderr: expect.stringMatching("--all") });
    expect(await run(`retry ${uuid} --all`)).toHaveProperty("code", 2);
    expect(await run("retry no-such-uuid")).toMatchObject({ code: 1 });
    isFixed = true;
    expect(await run(`retry ${uuid}`)).toMatchObject({ code: 0, stdout: "retried 1\n" });
    await until(() => events.length === 3);
    const missing = { code: 1, stdout: "There is no such dead letter.\n" };
    expect(await run(`discard ${uuid}`)).toMatchObject(missing);
    const all = await run("retry --all --json");
    expect(all.code).toBe(0);
    expect(JSON.parse(all.stdout)).toEqual({ retried: 1 });
    expect(await run("retry --all")).toHaveProperty("code", 0);

    expect(await receive(eventRequest("challenge.approved"))).toBe(200);
    const user = `${entityIdentity} --account-sid ${account_sid}`;
    const noted = expect.any(Number) as number;
    const none = { waiting: 0, active: 0, delayed: 0, deadLetters: 0, outcomes: 0, entries: noted };
    await until(async () => (await queue.stats()).active === 0);
    for (const [line, counts] of [
      [`count-user ${user}`, { ...none, outcomes: 1 }],
      [`erase-user other --account-sid ${account_sid}`, none],
      [`erase-user ${user}`, { ...none, outcomes: 1 }],
      [`count-user ${user}`, none],
    ] as const) {
      const { code, stdout, stderr } = await run(`${line} --json`);
      expect({ code, stderr, counts: JSON.parse(stdout) as unknown }).toEqual({
        code: 0,
        stderr: "",
        counts,
      });
    }
    expect((await run(`count-user ${user}`)).stdout).toMatch(/^COUNT\tVALUE\nwaiting\t0\n/);
    const wrong = await run("erase-user ada --account-sid user-7f3a-22");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch("accountSid");
    expect(wrong.stderr).not.toMatch(/ada|user-7f3a-22/);
    await queue.close();
  });
}
