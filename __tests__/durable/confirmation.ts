/** Events that a worker must confirm; run on each engine. */
import { once } from "node:events";
import { createHandlers, type Confirm, type PushWebhooksOptions } from "express-push-verification";
import type { QueueOptions, WorkOptions } from "express-push-verification/durable";
import { entityIdentity, receiveInto, untilStats, type DurableReceiver } from "../support/durable";
import { has } from "../support/platform";
import type { StoppableEngine } from "../support/engine";
import { collect, countTime, createGate, until } from "../support/waiting";
import { AUTH_TOKEN, CHALLENGE_SID, eventRequest } from "../support/webhook-requests";

const respond = (
  uuid = "approval",
  type = "approved" as "approved" | "denied",
  authToken = AUTH_TOKEN,
) => {
  const named = { uuid, challenge_sid: CHALLENGE_SID, entity_identity: entityIdentity };
  return eventRequest(`challenge.${type}`, named, { authToken });
};

const NOTED = "trigger-1 discarded";

export function describeConfirmation(engine: StoppableEngine): void {
  countTime();
  let receiver: DurableReceiver;
  let calls: string[];
  let confirm: Confirm;

  async function open(
    options: Partial<PushWebhooksOptions> = {},
    queueOptions: Partial<QueueOptions> = {},
  ): Promise<void> {
    const queue = engine.open({ attempts: 3, backoff: 20, ...queueOptions });
    receiver = await receiveInto(queue, {
      confirm: (event, context) => {
        calls.push(`confirm ${event.uuid}`);
        return confirm(event, context);
      },
      ...options,
    });
    receiver.push.onAny(({ uuid }, { attempt }) => void calls.push(`handle ${uuid} ${attempt}`));
    await queue.ready();
  }
  const work = (options?: WorkOptions) => receiver.queue.work(receiver.push.handlers, options);
  const retry = () => receiver.queue.retry("approval");
  const untilCalls = (count: number) => until(() => calls.length >= count);

  async function deliver(request = respond()): Promise<void> {
    expect(await receiver.deliver(request)).toBe(200);
  }

  async function wait(timeoutMs = 60_000) {
    const challenge = { challengeSid: CHALLENGE_SID, entityIdentity };
    const outcome = await receiver.push.waitForChallenge({ ...challenge, timeoutMs });
    calls.push(`outcome ${outcome.type}`);
    return outcome;
  }
  const expectNoOutcome = () =>
    expect(wait(200)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");

  async function expectDead(code: string, attempts: number): Promise<void> {
    await untilStats(receiver.queue, { deadLetters: 1 });
    const error = expect.stringMatching(`^${code}:`) as string;
    expect(await collect(receiver.queue.deadLetters())).toMatchObject([{ error, attempts }]);
  }

  beforeEach(() => {
    calls = [];
    confirm = () => true;
  });

  it("have no effect except the 200 before confirm", async () => {
    await open();
    const gate = createGate();
    confirm = () => gate.opened.then(() => true);
    const waiting = wait();
    await deliver();
    await deliver();
    work();
    await untilCalls(1);
    await expectNoOutcome();
    expect(calls).toEqual(["confirm approval"]);
    gate.open();
    await waiting;
    await untilCalls(3);
    expect(calls.toSorted()).toEqual([
      "confirm approval",
      "handle approval 1",
      "outcome challenge.approved",
    ]);
    await wait();
  });

  it("are dead letters at once while confirm returns false", async () => {
    await open();
    confirm = ({ type }) => type === "challenge.denied";
    work();
    await deliver();
    await expectDead("NOT_CONFIRMED", 1);
    await expectNoOutcome();
    expect(await retry()).toBe(true);
    await untilCalls(2);
    await expectDead("NOT_CONFIRMED", 1);
    expect(calls).toEqual(["confirm approval", "confirm approval"]);

    // Of the same uuid.
    await deliver(respond("approval", "denied"));
    await deliver(respond("approval", "denied"));
    expect(await wait()).toHaveProperty("type", "challenge.denied");
    await until(() => calls.includes("handle approval 1"));
    confirm = () => true;
    expect(await retry()).toBe(true);
    await untilStats(receiver.queue, { waiting: 0, active: 0, deadLetters: 0 });
    const handled = calls.filter((call) => call.startsWith("handle"));
    expect(handled).toEqual(["handle approval 1", "handle approval 1"]);
  });

  it("are decided apart from a forged event of their uuid", async () => {
    const newToken = "93d1f6a2b8c74d0e8a5f2c1b7e604d39";
    await open({ authToken: [newToken, AUTH_TOKEN] }, { backoff: 60_000 });
    const forged = respond("approval", "denied");
    confirm = ({ type }) => (type === "challenge.approved" ? true : "pending");
    work();
    await deliver(forged);
    await untilStats(receiver.queue, { delayed: 1 });
    await deliver();
    await deliver(respond("approval", "approved", newToken));
    await deliver(forged);
    expect(await wait()).toHaveProperty("type", "challenge.approved");
    await untilStats(receiver.queue, { waiting: 0, active: 0, delayed: 1 });
    const told = "outcome challenge.approved";
    const run = ["confirm approval", "confirm approval", "handle approval 1", told];
    expect(calls.toSorted()).toEqual(run);
  });

  it("are asked about in each attempt while they are pending", async () => {
    await open();
    confirm = () => (calls.length === 1 ? "pending" : true);
    work();
    await deliver();
    await untilCalls(3);
    expect(calls).toEqual(["confirm approval", "confirm approval", "handle approval 2"]);
    confirm = () => "pending";
    await deliver(respond("late", "denied"));
    await expectDead("NOT_CONFIRMED", 3);
    // Its uuid is forgotten.
    confirm = () => true;
    await deliver(respond("late", "denied"));
    await until(() => calls.includes("handle late 1"));
  });

  it("that a tool of this package invented are discarded when they are not confirmed", async () => {
    await open();
    confirm = () => false;
    const failed: string[] = [];
    work({ concurrency: 1, onError: ({ code }) => void failed.push(code) });
    for (const uuid of ["trigger-1", "approval"]) await deliver(respond(uuid));
    await expectDead("NOT_CONFIRMED", 1);
    await untilStats(receiver.queue, { waiting: 0, active: 0, deadLetters: 1 });
    expect(failed).toEqual(Array(2).fill("NOT_CONFIRMED"));
    expect(await receiver.queue.find("trigger-1")).toHaveProperty("state", "discarded");
    await until(async () => {
      const { entries } = (await receiver.queue.journal?.read()) ?? { entries: [] };
      return entries.some((one) => "what" in one && `${one.uuid} ${one.what}` === NOTED);
    });
  });

  it("are run only by a worker that can confirm", async () => {
    await open();
    const { queue } = receiver;
    const handlers = createHandlers().onAny(({ uuid }) => void calls.push(`handle ${uuid}`));
    const worker = queue.work(handlers);
    await deliver();
    await expectDead("CONFIRM_UNAVAILABLE", 3);
    expect(calls).toEqual([]);
    await expectNoOutcome();
    await worker.close();
    queue.work(handlers, { confirm: ({ uuid }) => calls.push(`own ${uuid}`) > 0 });
    await queue.retryAll();
    await untilCalls(2);
    expect(calls).toEqual(["own approval", "handle approval"]);
  });

  it("are confirmed by the function of the receiver that took them", async () => {
    const handlers = createHandlers();
    await open({ handlers, name: "one" });
    const two = { handlers, name: "two" };
    const other = await receiveInto(receiver.queue, {
      ...two,
      confirm: ({ uuid }) => calls.push(`other confirm ${uuid}`) > 0,
    });
    const third = receiveInto(receiver.queue, { ...two, confirm: () => true });
    await expect(third).rejects.toThrow(TypeError);
    work();
    await deliver(respond("first"));
    await untilCalls(2);
    await other.deliver(respond("second"));
    await untilCalls(4);
    const expected = ["confirm first", "handle first 1", "other confirm second", "handle second 1"];
    expect(calls).toEqual(expected);
  });

  it("have all their attempts after a worker died between confirm and handlers", async () => {
    await open();
    const waiting = wait();
    const messages: string[] = [];
    const child = await engine.startProcess((message) => void messages.push(message));
    const died = once(child, "exit");
    await deliver();
    expect(await died).toEqual(has("signals") ? [null, "SIGKILL"] : [1, null]);
    await engine.passLeases();
    receiver.push.onAny(() => {
      throw new Error("down");
    });
    work();
    await waiting;
    await untilStats(receiver.queue, { deadLetters: 1 });
    const own = calls.filter((call) => !call.startsWith("outcome"));
    const tried = [2, 3, 4].flatMap((attempt) => [
      "confirm approval",
      `handle approval ${attempt}`,
    ]);
    expect(own).toEqual(tried);
    expect(messages).toEqual(["ready"]);
  });

  it.each(engine.outages)(
    "keep their only attempt while the store $name after confirm",
    async (outage) => {
      await open({}, { attempts: 1, storeTimeoutMs: 500 });
      const begun = createGate();
      confirm = async () => {
        await outage.begin();
        begun.open();
        return true;
      };
      work();
      const waiting = wait();
      await deliver();
      await begun.opened;
      // The 503 comes after storeTimeoutMs.
      expect(await receiver.deliver(eventRequest("factor.created", { uuid: "late" }))).toBe(503);
      expect(calls).toEqual(["confirm approval"]);
      confirm = () => true;
      await outage.end();
      await waiting;
      await until(() => calls.some((call) => call.startsWith("handle approval")));
      expect(await receiver.queue.stats()).toHaveProperty("deadLetters", 0);
    },
  );
}
