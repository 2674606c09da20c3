import { fork } from "node:child_process";
import { join } from "node:path";
import { hashKey } from "../../../lib/durable/stored-keys";
import { hashText } from "../../../lib/form/hash";
import { TYPESCRIPT } from "../../support/child-processes";
import { CHALLENGE_SID, eventPairs, PUBLIC_URL } from "../../support/webhook-requests";
import {
  entityIdentity,
  openReceiver,
  QUEUE_NAME,
  sidOf,
  type DurableReceiver,
} from "../../support/durable";
import {
  describeWithRedis,
  startRedis,
  stopRedis,
  until,
  type RedisServer,
} from "../../support/redis";
import { stopServers } from "../../support/servers";

const root = join(__dirname, "..", "..", "..");
/** Static tokens: the account is implied by the URL of the receiver. */
const hashOf = (sid: string) => hashKey(QUEUE_NAME, `${hashText(PUBLIC_URL)}:${sid}`);
const keyOf = (sid: string) => `push:${QUEUE_NAME}:outcome:${hashOf(sid)}`;

describeWithRedis("an unreadable outcome in Redis", () => {
  let server: RedisServer;
  let receiver: DurableReceiver | undefined;
  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await receiver?.close();
    receiver = undefined;
    await stopServers();
    await stopRedis();
  });

  /** Waits for a challenge in a process of its own. */
  function startWait() {
    const file = join(root, "__tests__", "support", "wait-process.ts");
    const args = [server.url, QUEUE_NAME, CHALLENGE_SID, entityIdentity];
    const child = fork(file, args, {
      cwd: root,
      execArgv: TYPESCRIPT,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    const wait = { child, messages: [] as string[], warnings: "" };
    child.on("message", (message: string) => void wait.messages.push(message));
    child.stderr?.on("data", (chunk: Buffer) => void (wait.warnings += chunk.toString()));
    return wait;
  }

  it("neither ends the process nor the wait, and is reported once", async () => {
    const { redis } = server;
    const wait = startWait();
    const publish = async (value: string) => {
      await redis.set(keyOf(CHALLENGE_SID), value);
      await redis.publish(`push:${QUEUE_NAME}:outcomes`, hashOf(CHALLENGE_SID));
    };
    await until(() => wait.messages.includes("waits"), 20_000);
    await until(async () => (await redis.pubsub("CHANNELS", "*")).length === 1);
    await redis.publish(`push:${QUEUE_NAME}:outcomes`, "\u0000{ no outcome");
    const factor = JSON.stringify(eventPairs("factor.created"));
    for (const value of ["{", "null", "5", "[1]", '[["type",5]]', "[]", factor])
      await publish(value);
    await until(() => wait.warnings.includes("OUTCOME_UNREADABLE"));
    expect([wait.messages, wait.child.exitCode]).toEqual([["waits"], null]);

    await redis.del(keyOf(CHALLENGE_SID));
    await publish(JSON.stringify(eventPairs("challenge.denied")));
    await until(() => wait.messages.length === 2);
    expect(wait.messages).toEqual(["waits", "challenge.denied"]);
    expect(wait.warnings.match(/OUTCOME_UNREADABLE/g)).toHaveLength(1);
    expect(wait.warnings).not.toContain(entityIdentity);
    wait.child.kill("SIGKILL");
  }, 40_000);

  it("is logged without its value, and the wait for it times out", async () => {
    const logger = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
    receiver = await openReceiver({ connection: server.url, logger });
    await receiver.queue.ready();
    for (const index of [1, 2])
      await server.redis.set(keyOf(sidOf(index)), `[["${entityIdentity}"`);
    for (const index of [1, 2]) {
      const wait = { challengeSid: sidOf(index), entityIdentity, timeoutMs: 1_000 };
      await expect(receiver.push.waitForChallenge(wait)).rejects.toHaveProperty(
        "code",
        "CHALLENGE_TIMEOUT",
      );
    }
    expect(logger.error).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(logger.error.mock.calls)).not.toContain(entityIdentity);
  });
});
