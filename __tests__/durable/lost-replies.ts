/** The reply to a command of a queue is lost; run on each engine with a server. */
import {
  entityIdentity,
  receiveInto,
  sidOf,
  silent,
  type DurableReceiver,
} from "../support/durable";
import { openQueue, type StoppableEngine } from "../support/engine";
import { until } from "../support/waiting";
import { startRedisProxy, type RedisProxy } from "../support/redis-proxy";
import { stopServers } from "../support/servers";
import { eventRequest } from "../support/webhook-requests";

const APPROVAL = eventRequest("challenge.approved", { challenge_sid: sidOf(1), uuid: "first-1" });

/** Describes that a lost reply repeats nothing; each command is known by a text in it. */
export function describeLostReplies(
  engine: StoppableEngine,
  commands: [what: string, text: string][],
): void {
  let proxy: RedisProxy;
  let other: DurableReceiver;
  let web: DurableReceiver;
  let handled: [uuid: string, attempt: number][];

  /** Opens a receiver on the server, or on the proxy in front of it. */
  async function receive(port?: number): Promise<DurableReceiver> {
    const [name, location, queueName] = engine.listArguments();
    const url = new URL(location);
    if (port !== undefined) url.port = String(port);
    const receiver = await receiveInto(
      openQueue(name, url.href, { name: queueName, logger: silent, backoff: 20 }),
    );
    receiver.push.onAny(({ uuid }, { attempt }) => void handled.push([uuid, attempt]));
    await receiver.queue.ready();
    return receiver;
  }

  beforeEach(async () => {
    handled = [];
    await engine.start();
    proxy = await startRedisProxy(Number(new URL(engine.listArguments()[1]).port));
    other = await receive();
    web = await receive(proxy.port);
  });
  afterEach(async () => {
    await web.close();
    await other.close();
    proxy.close();
    await stopServers();
    await engine.stop();
  });

  it.each(commands)("%s is stored once, recorded and handled once", async (_what, text) => {
    // Loads the scripts of BullMQ into Redis, so that the next store takes a single command.
    await web.deliver(eventRequest("factor.created", { uuid: "warm-up" }));
    const wait = { challengeSid: sidOf(1), entityIdentity, timeoutMs: 15_000 };
    const lost = proxy.loseReplyTo(text);
    const waiting = other.push.waitForChallenge(wait);
    expect(await web.deliver(APPROVAL)).toBe(200);
    await lost;
    expect(await waiting).toHaveProperty("challenge_sid", sidOf(1));
    expect(await other.queue.stats()).toMatchObject({ waiting: 2 });
    expect(await other.push.waitForChallenge(wait)).toHaveProperty("uuid", "first-1");
    expect(await web.deliver(APPROVAL)).toBe(200);
    other.queue.work(other.push.handlers, { concurrency: 1 });
    await until(async () => (await other.queue.stats()).waiting === 0);
    await until(async () => (await other.queue.stats()).active === 0);
    expect(handled).toEqual([
      ["warm-up", 1],
      ["first-1", 1],
    ]);
  });
}
