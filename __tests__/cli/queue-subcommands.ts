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
    const [uuid, discarded] = [crypto.randomUUID(), crypto.randomUUID()];
    for (const [index, one] of [HOSTILE_UUID, uuid, discarded].entries()) {
      expect(await receive(eventRequest("factor.created", { uuid: one }))).toBe(200);
      await until(async () => (await queue.stats()).deadLetters === index + 1);
    }
    const { account_sid } = events[0] as PushEvent;
    await until(async () => {
      const stats = JSON.parse((await run("stats --json")).stdout) as QueueStats;
      return stats.waiting === 0 && stats.deadLetters === 3 && stats.workers === 1;
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
    const shown = [{ uuid: HOSTILE_UUID }, { uuid, attempts: 1 }, { uuid: discarded }];
    expect(JSON.parse(json.stdout)).toMatchObject(shown);
    expect((deadLetters.stdout + json.stdout).replaceAll(/[\t\n]/g, "")).not.toMatch(CONTROL);
    expect(deadLetters.stdout + json.stdout).not.toContain("user-7f3a-22");

    expect(await run("retry")).toMatchObject({ code: 2, stderr: expect.stringMatching("--all") });
    expect(await run(`retry ${uuid} --all`)).toHaveProperty("code", 2);
    isFixed = true;
    const missing = "There is no such dead letter.\n";
    const ofOther = `--account-sid AC${"0".repeat(32)}`;
    for (const [line, code, stdout] of [
      [`retry ${uuid} ${ofOther}`, 1, missing],
      ["retry none --json", 1, { retried: 0 }],
      [`discard ${uuid} ${ofOther}`, 1, missing],
      ["discard none --json", 1, { discarded: 0 }],
      [`discard ${discarded}`, 0, "discarded 1\n"],
      [`retry ${uuid}`, 0, "retried 1\n"],
      [`discard ${uuid} --json`, 1, { discarded: 0 }],
      ["retry --all --json", 0, { retried: 1 }],
      ["retry --all", 0, missing],
    ] as const) {
      const ended = await run(line);
      const found = typeof stdout === "string" ? ended.stdout : JSON.parse(ended.stdout);
      const expected = { line, code, found: stdout, stderr: "" };
      expect({ line, code: ended.code, found, stderr: ended.stderr }).toEqual(expected);
    }
    await until(() => events.length === 5);

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
    for (const line of ["count-user", "erase-user"])
      expect((await run(`${line} ${user}`)).stdout).toMatch(/^COUNT\tVALUE\nwaiting\t0\n/);
    const wrong = await run("erase-user ada --account-sid user-7f3a-22");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch("accountSid");
    expect(wrong.stderr).not.toMatch(/ada|user-7f3a-22/);
    await queue.close();
  });
}
