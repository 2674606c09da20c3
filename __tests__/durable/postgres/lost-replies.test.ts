import { eventFixture } from "express-push-verification/testing";
import { createSlowHandlers, queuedEvent, silent } from "../../support/durable";
import { openQueue } from "../../support/engine";
import { describeOnPostgres } from "../../support/postgres-engine";
import { until } from "../../support/waiting";
import { startRedisProxy } from "../../support/redis-proxy";
import { describeLostReplies } from "../lost-replies";

describeOnPostgres("with a reply that is lost,", (engine) => {
  describeLostReplies(engine, [["the event", "first-1"]]);

  it("a claim is repeated, without the event of a handler that runs", async () => {
    const [name, location, queueName] = engine.listArguments();
    const url = new URL(location);
    const proxy = await startRedisProxy(Number(url.port));
    url.port = String(proxy.port);
    const queue = openQueue(name, url.href, { name: queueName, logger: silent });
    const store = (uuid: string) =>
      queue.store(queuedEvent(eventFixture("factor.created", { uuid })), Number.POSITIVE_INFINITY);
    const { handlers, handled, finish } = createSlowHandlers();
    queue.work(handlers);
    await store("slow");
    await until(() => handled.length === 1);
    const lost = proxy.loseReplyTo("push_claim");
    await store("next");
    await lost;
    await until(() => handled.length === 2);
    finish();
    await until(async () => (await queue.stats()).active === 0);
    expect(handled).toEqual(["slow", "next"]);
    await queue.close();
    proxy.close();
  });
});
