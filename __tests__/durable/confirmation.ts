/** Events that a worker must confirm; run on each engine. */
import { once } from "node:events";
import { createHandlers, type Confirm, type PushWebhooksOptions } from "express-push-verification";
import type { DeadLetter, QueueOptions } from "express-push-verification/durable";
import { entityIdentity, receiveInto, untilStats, type DurableReceiver } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { collect, createGate, until } from "../support/waiting";
import { CHALLENGE_SID, eventRequest } from "../support/webhook-requests";

const approval = (uuid = "approval") =>
  eventRequest("challenge.approved", {
    uuid,
    challenge_sid: CHALLENGE_SID,
    entity_identity: entityIdentity,
  });

/** Describes the events of a receiver with the option `confirm`. */
export function describeConfirmation(engine: StoppableEngine): void {
  let receiver: DurableReceiver;
  let calls: string[];
  let confirm: Confirm;

  /** Opens a receiver on the queue; `calls` lists its confirmations, runs and outcomes. */
  async function open(
    options: Partial<PushWebhooksOptions> = {},
    queueOptions: Partial<QueueOptions> = {},
  ): Promise<DurableReceiver> {
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
    return receiver;
  }

  function wait(timeoutMs = 20_000) {
    const challenge = { challengeSid: CHALLENGE_SID, entityIdentity };
    const waiting = receiver.push.waitForChallenge({ ...challenge, timeoutMs });
    waiting.then(
      ({ uuid }) => calls.push(`outcome ${uuid}`),
      () => {},
    );
    return waiting;
  }

  /** Waits for the only dead letter; returns its code and its attempts. */
  async function readDead() {
    await untilStats(receiver.queue, { deadLetters: 1 });
    const [{ error, attempts }] = (await collect(receiver.queue.deadLetters())) as [DeadLetter];
    return [error.split(":")[0], attempts];
  }

  beforeEach(() => {
    calls = [];
    confirm = () => true;
  });

  it("get a 200 before confirm, and resolve waits and reach handlers only after it", async () => {
    const { push, queue, deliver } = await open();
    const gate = createGate();
    confirm = () => gate.opened.then(() => true);
    const waiting = wait();
    expect(await deliver(approval())).toBe(200);
    expect(await deliver(approval())).toBe(200);
    queue.work(push.handlers);
    await until(() => calls.length === 1);
    await expect(wait(300)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    expect(calls).toEqual(["confirm approval"]);
    gate.open();
    expect(await waiting).toHaveProperty("uuid", "approval");
    await until(() => calls.length === 3);
    expect(calls.toSorted()).toEqual(["confirm approval", "handle approval 1", "outcome approval"]);
    expect(await wait()).toHaveProperty("uuid", "approval");
  });

  it("become dead letters at once for false, and are confirmed again by a retry", async () => {
    const { push, queue, deliver } = await open();
    confirm = () => false;
    queue.work(push.handlers);
    expect(await deliver(approval())).toBe(200);
    expect(await readDead()).toEqual(["NOT_CONFIRMED", 1]);
    await expect(wait(100)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    expect(await queue.retry("approval")).toBe(true);
    await until(() => calls.length === 2);
    await readDead();
    expect(calls).toEqual(["confirm approval", "confirm approval"]);
    confirm = () => true;
    expect(await queue.retry("approval")).toBe(true);
    expect(await wait()).toHaveProperty("uuid", "approval");
    await until(() => calls.includes("handle approval 1"));
    expect(await queue.stats()).toHaveProperty("deadLetters", 0);
  });

  it("that are not confirmed do not keep out the event that has their uuid", async () => {
    const { push, queue, deliver } = await open();
    confirm = ({ type }) => type === "challenge.denied";
    queue.work(push.handlers);
    expect(await deliver(approval())).toBe(200);
    await readDead();
    const names = { challenge_sid: CHALLENGE_SID, entity_identity: entityIdentity };
    const denial = eventRequest("challenge.denied", { uuid: "approval", ...names });
    expect(await deliver(denial)).toBe(200);
    expect(await wait()).toHaveProperty("type", "challenge.denied");
    await until(() => calls.includes("handle approval 1"));
    expect(await deliver(denial)).toBe(200);
    expect(calls.filter((call) => call.startsWith("handle"))).toEqual(["handle approval 1"]);
  });

  it("of other types are confirmed only if their text can be read in another way", async () => {
    const { push, queue, deliver } = await open();
    confirm = (_event, { ambiguity = "" }) => ambiguity.includes("zone");
    queue.work(push.handlers, { concurrency: 1 });
    await deliver(eventRequest("factor.created", { uuid: "plain" }));
    await until(() => calls.length === 1);
    await deliver(eventRequest("factor.created", { uuid: "added", zone: "eu" }));
    await until(() => calls.length === 3);
    expect(calls).toEqual(["handle plain 1", "confirm added", "handle added 1"]);
  });

  it("are confirmed once in each attempt, also when their handlers failed", async () => {
    const { push, queue, deliver } = await open();
    let failures = 0;
    confirm = () => {
      if (failures++ === 0) throw new Error("the API is restarting");
      return true;
    };
    push.on("challenge.approved", (_event, { attempt }) => {
      if (attempt === 2) throw new Error("the handler fails");
    });
    const failed: string[] = [];
    queue.work(push.handlers, { onError: ({ code }) => void failed.push(code) });
    await deliver(approval());
    await until(() => calls.includes("handle approval 3"));
    expect(calls).toEqual([
      "confirm approval",
      "confirm approval",
      "handle approval 2",
      "confirm approval",
      "handle approval 3",
    ]);
    expect(failed).toEqual(["CONFIRM_UNAVAILABLE", "HANDLER_FAILED"]);
  });

  it.each<[string, Confirm]>([
    ["fails", () => Promise.reject(new Error("down"))],
    ["returns no boolean", () => "true" as unknown as boolean],
  ])("become dead letters when confirm %s in all attempts", async (_, down) => {
    const { push, queue, deliver } = await open();
    confirm = down;
    queue.work(push.handlers);
    await deliver(approval());
    expect(await readDead()).toEqual(["CONFIRM_UNAVAILABLE", 3]);
    expect(calls).toEqual(Array<string>(3).fill("confirm approval"));
  });

  it("are not run by a worker that cannot confirm, and are by one with its own confirm", async () => {
    const { queue, deliver } = await open();
    const handlers = createHandlers().onAny(({ uuid }) => void calls.push(`handle ${uuid}`));
    const worker = queue.work(handlers);
    await deliver(approval());
    expect(await readDead()).toEqual(["CONFIRM_UNAVAILABLE", 3]);
    expect(calls).toEqual([]);
    await expect(wait(100)).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
    await worker.close();
    queue.work(handlers, { confirm: ({ uuid }) => calls.push(`own ${uuid}`) > 0 });
    await queue.retryAll();
    await until(() => calls.length === 2);
    expect(calls).toEqual(["own approval", "handle approval"]);
  });

  it("are confirmed by the function of the receiver that took them", async () => {
    const handlers = createHandlers();
    await open({ handlers, name: "one" });
    const others: string[] = [];
    const other = await receiveInto(receiver.queue, {
      handlers,
      name: "two",
      confirm: ({ uuid }) => others.push(uuid) > 0,
    });
    const third = receiveInto(receiver.queue, { handlers, name: "two", confirm: () => true });
    await expect(third).rejects.toThrow(TypeError);
    receiver.queue.work(handlers);
    await receiver.deliver(approval("first"));
    await until(() => calls.includes("handle first 1"));
    await other.deliver(approval("second"));
    await until(() => others.length > 0 || calls.length > 2);
    expect(others).toEqual(["second"]);
    expect(calls.slice(0, 2)).toEqual(["confirm first", "handle first 1"]);
  });

  it("are confirmed again when a worker died between confirm and handlers", async () => {
    await open();
    const waiting = wait();
    const messages: string[] = [];
    const child = await engine.startProcess((message) => void messages.push(message));
    const died = once(child, "exit");
    await receiver.deliver(approval());
    expect(await died).toEqual([null, "SIGKILL"]);
    receiver.queue.work(receiver.push.handlers);
    expect(await waiting).toHaveProperty("uuid", "approval");
    await until(() => calls.includes("handle approval 2"));
    expect(calls.filter((call) => !call.startsWith("outcome"))).toEqual([
      "confirm approval",
      "handle approval 2",
    ]);
    expect(messages).toEqual(["ready"]);
  }, 60_000);

  it.each(engine.outages.map((outage) => [outage.name, outage] as const))(
    "keep their only attempt while the store %s after confirm",
    async (_name, outage) => {
      const { push, queue, deliver } = await open({}, { attempts: 1, storeTimeoutMs: 500 });
      const begun = createGate();
      confirm = async () => {
        await outage.begin();
        begun.open();
        return true;
      };
      queue.work(push.handlers);
      const waiting = wait(50_000);
      expect(await deliver(approval())).toBe(200);
      await begun.opened;
      // The 503 comes after storeTimeoutMs.
      expect(await deliver(eventRequest("factor.created", { uuid: "late" }))).toBe(503);
      expect(calls).toEqual(["confirm approval"]);
      confirm = () => true;
      await outage.end();
      expect(await waiting).toHaveProperty("uuid", "approval");
      await until(() => calls.some((call) => call.startsWith("handle approval")), 30_000);
      expect(await queue.stats()).toHaveProperty("deadLetters", 0);
    },
    90_000,
  );
}
