/** The reply to a command of a queue is lost; run on each engine with a server. */
import { closeLater, entityIdentity, receiveInto, sidOf, untilStats } from "../support/durable";
import type { StoppableEngine } from "../support/engine";
import { startRedisProxy } from "../support/redis-proxy";
import { eventRequest } from "../support/webhook-requests";

const APPROVAL = eventRequest("challenge.approved", { challenge_sid: sidOf(1), uuid: "first-1" });

/** Describes that a lost reply repeats nothing; each command is known by a text in it. */
export function describeLostReplies(
  engine: StoppableEngine,
  commands: [what: string, text: string][],
): void {
  it.each(commands)("%s is stored once, recorded and handled once", async (_what, text) => {
    const url = new URL(engine.place().connection ?? "");
    const proxy = closeLater(await startRedisProxy(Number(url.port)));
    url.port = String(proxy.port);
    const handled: string[] = [];
    const { queue, push } = await receiveInto(engine.open());
    push.onAny(({ uuid }, { attempt }) => void handled.push(`${uuid} ${attempt}`));
    const web = await receiveInto(engine.open({ connection: url.href }));
    // Loads the scripts of BullMQ into Redis, so that the next store takes a single command.
    await web.deliver(eventRequest("factor.created", { uuid: "warm-up" }));
    const wait = { challengeSid: sidOf(1), entityIdentity, timeoutMs: 15_000 };
    const lost = proxy.loseReplyTo(text);
    const waiting = push.waitForChallenge(wait);
    expect(await web.deliver(APPROVAL)).toBe(200);
    await lost;
    expect(await waiting).toHaveProperty("uuid", "first-1");
    expect(await queue.stats()).toMatchObject({ waiting: 2 });
    expect(await push.waitForChallenge(wait)).toHaveProperty("uuid", "first-1");
    expect(await web.deliver(APPROVAL)).toBe(200);
    queue.work(push.handlers, { concurrency: 1 });
    await untilStats(queue, { waiting: 0, active: 0 });
    expect(handled).toEqual(["warm-up 1", "first-1 1"]);
  });
}
