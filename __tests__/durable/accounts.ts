/** The accounts and receivers of one queue are apart; run on each engine. */
import { PermanentError, pushWebhooks } from "express-push-verification";
import { ACCOUNT_SID, CHALLENGE_SID, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { entityIdentity, receiveInto, silent, type DurableReceiver } from "../support/durable";
import type { SuiteEngine } from "../support/engine";
import { collect, until } from "../support/waiting";
import { send, startServer, stopServers } from "../support/servers";

const A = ACCOUNT_SID;
const B = `AC${"b".repeat(32)}`;
const names = { challenge_sid: CHALLENGE_SID };
const TOKENS: Record<string, string> = { [A]: "token-of-account-a", [B]: "token-of-account-b" };

/** A request that an account signs with its own token. */
function requestOf(
  account_sid: string,
  type: Parameters<typeof eventRequest>[0],
  overrides: Record<string, string> = {},
) {
  const authToken = TOKENS[account_sid] ?? "";
  return eventRequest(type, { account_sid, ...overrides }, { authToken });
}

/** Describes how a queue separates the accounts and receivers that share it. */
export function describeAccounts(engine: SuiteEngine): void {
  beforeEach(() => engine.start());
  afterEach(async () => {
    await stopServers();
    await engine.stop();
  });

  describe("two accounts on one receiver", () => {
    let receiver: DurableReceiver;
    let handled: string[];

    beforeEach(async () => {
      receiver = await receiveInto(engine.open({ logger: silent }), {
        authToken: ({ account_sid = "" }) => TOKENS[account_sid],
      });
      handled = [];
      receiver.push.onAny(({ account_sid, uuid }) => void handled.push(`${account_sid} ${uuid}`));
      await receiver.queue.ready();
    });
    afterEach(() => receiver.close());

    it("resolve a wait by an event of its account only", async () => {
      const waiting = receiver.push.waitForChallenge({
        challengeSid: CHALLENGE_SID,
        entityIdentity,
        accountSid: A,
        timeoutMs: 10_000,
      });
      const forged = requestOf(B, "challenge.approved", {
        ...names,
        entity_identity: entityIdentity,
      });
      expect(await receiver.deliver(forged)).toBe(200);
      // The worker records outcomes as well.
      receiver.queue.work(receiver.push.handlers);
      await until(() => handled.length === 1);
      expect(await receiver.deliver(requestOf(A, "challenge.denied", names))).toBe(200);
      expect(await waiting).toMatchObject({ type: "challenge.denied", account_sid: A });
    });

    it("have uuids of their own: the event of one is no duplicate of the other's", async () => {
      const uuid = "same";
      for (const account of [B, A]) {
        const request = requestOf(account, "factor.created", { uuid });
        expect(await receiver.deliver(request)).toBe(200);
        expect(await receiver.deliver(request)).toBe(200);
      }
      expect(await receiver.queue.stats()).toMatchObject({ waiting: 2 });
      receiver.queue.work(receiver.push.handlers);
      await until(() => handled.length === 2);
      expect(handled.toSorted()).toEqual([`${A} ${uuid}`, `${B} ${uuid}`].toSorted());
    });

    it("have dead letters of their own, which accountSid tells apart", async () => {
      const { push, queue } = receiver;
      let isBroken = true;
      push.on("factor.created", () => {
        if (isBroken) throw new PermanentError("no");
      });
      queue.work(push.handlers);
      const uuid = "dead";
      for (const account of [A, B])
        await receiver.deliver(requestOf(account, "factor.created", { uuid }));
      await until(async () => (await queue.stats()).deadLetters === 2);
      const accounts = (await collect(queue.deadLetters())).map(({ accountSid }) => accountSid);
      expect(accounts.toSorted()).toEqual([A, B].toSorted());

      for (const method of ["retry", "discard"] as const) {
        await expect(queue[method](uuid)).rejects.toThrow(TypeError);
        await expect(queue[method](uuid)).rejects.toThrow(/accountSid/);
        expect(await queue[method](uuid, { accountSid: `AC${"c".repeat(32)}` })).toBe(false);
      }
      expect(await queue.stats()).toMatchObject({ deadLetters: 2 });

      isBroken = false;
      handled = [];
      expect(await queue.retry(uuid, { accountSid: B })).toBe(true);
      await until(() => handled.length === 1);
      expect(handled).toEqual([`${B} ${uuid}`]);
      expect(await queue.discard(uuid, { accountSid: B })).toBe(false);
      expect(await queue.discard(uuid)).toBe(true);
      expect(await collect(queue.deadLetters())).toEqual([]);

      // The uuid of a discarded event stays taken, in its own account.
      expect(await receiver.deliver(requestOf(A, "factor.created", { uuid }))).toBe(200);
      expect(await queue.stats()).toMatchObject({ waiting: 0, active: 0 });
      expect(handled).toHaveLength(1);
    });
  });

  describe("two receivers with static tokens", () => {
    it("have names of their own in one process, until they are closed", async () => {
      const queue = engine.open({ logger: silent });
      const first = pushWebhooks({ authToken: "one", publicUrl: PUBLIC_URL, queue, name: "shop" });
      const create = (options: object) => () =>
        pushWebhooks({ authToken: "one", publicUrl: PUBLIC_URL, queue, name: "shop", ...options });
      for (const options of [
        { authToken: "two" },
        { authToken: ["one", "two"] },
        { authToken: () => "one" },
        { allowedAccountSids: [A] },
      ]) {
        expect(create(options)).toThrow(/"shop" and has another authToken/);
      }
      expect(create({ publicUrl: `${PUBLIC_URL}/eu` })).not.toThrow();
      expect(create({ authToken: "two", name: "other" })).not.toThrow();
      await first.close();
      await queue.close();
    });

    it("share neither outcomes nor uuids, though each signer may claim any account", async () => {
      const queue = engine.open({ logger: silent });
      const one = await receiveInto(queue, { authToken: "token-one", name: "one" });
      const two = pushWebhooks({
        authToken: "token-two",
        publicUrl: PUBLIC_URL,
        name: "two",
        queue,
      });
      const port = await startServer((req, res) => void two(req, res));
      await queue.ready();
      const uuid = "same";
      const wait = { challengeSid: CHALLENGE_SID, entityIdentity, timeoutMs: 5_000 };
      const waiting = one.push.waitForChallenge(wait);
      const forged = eventRequest(
        "challenge.approved",
        { ...names, uuid },
        { authToken: "token-two" },
      );
      expect(await send(port, forged)).toHaveProperty("status", 200);
      const denied = eventRequest(
        "challenge.denied",
        { ...names, uuid },
        { authToken: "token-one" },
      );
      expect(await one.deliver(denied)).toBe(200);
      expect(await waiting).toHaveProperty("type", "challenge.denied");
      expect(await two.waitForChallenge(wait)).toHaveProperty("type", "challenge.approved");
      // Closing one receiver leaves the waits of the other alone.
      await two.close();
      await expect(two.waitForChallenge(wait)).rejects.toHaveProperty("code", "CLOSING");
      expect(await one.push.waitForChallenge(wait)).toHaveProperty("type", "challenge.denied");
      await one.close();
    });
  });
}
