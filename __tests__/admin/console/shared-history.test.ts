/** The history of a queue in Redis, as the consoles of two processes show it. */
import { createHandlers } from "express-push-verification";
import { redisQueue } from "express-push-verification/durable";
import { silent } from "../../support/durable";
import { describeWithRedis, startRedis, stopRedis } from "../../support/redis";
import { until } from "../../support/waiting";
import { act, readShown, readView, startConsole, useConsoles } from "./console-app";

useConsoles();

const JANE = "jane.doe@example.com";
const approve = "challenge.approved";

describeWithRedis("with a queue in Redis", () => {
  afterAll(stopRedis);

  /** A web process: a receiver and a console with an own connection. */
  async function startProcess(connection: string) {
    const queue = redisQueue({ name: "shared", connection, attempts: 1, logger: silent });
    await queue.ready();
    return { queue, app: await startConsole({ router: { queue }, receiver: { queue } }) };
  }

  it("shows the same history in each process", async () => {
    const { url } = await startRedis();
    const [one, two] = [await startProcess(url), await startProcess(url)];
    let isUp = false;
    const handled: string[] = [];
    const handlers = createHandlers().on(approve, ({ uuid, entity_identity }) => {
      if (!isUp) throw new Error(`no row of ${entity_identity}`);
      handled.push(uuid);
    });
    const worker = one.queue.work(handlers);
    await one.app.deliver(approve, { uuid: "a", entity_identity: JANE });
    await two.app.deliver(approve, { uuid: "b" });
    await two.app.deliver(approve, { uuid: "forged", entity_identity: JANE }, { authToken: "x" });
    const untilShown = async (app: typeof one.app, states: string) =>
      until(async () => {
        const { rows } = await readShown(app);
        return rows.map(({ uuid, state }) => `${uuid} ${state}`).join() === states;
      });
    await untilShown(one.app, "forged rejected,b dead,a dead");
    await untilShown(two.app, "forged rejected,b dead,a dead");
    const [first, second] = [await readView(one.app), await readView(two.app)];
    expect(second.position).toBe(first.position);
    const { rows = [], totals, isShared, failed } = first.shown ?? {};
    expect(isShared).toBe(true);
    expect(totals).toMatchObject({ byResult: { stored: 2, rejected: 1 }, failedAttempts: 2 });
    const masked = "no row of <entity_identity>";
    expect(failed).toMatchObject({ count: 2, users: 2 });
    expect(rows[2]?.failure).toContain(masked);
    const found = (await two.app.call("/search", { text: JANE })).body;
    expect(found.found).toBe(2);
    expect(found.deadLetters).toMatchObject([{ uuid: "a", person: rows[2]?.person }]);
    expect(rows[0]?.person).toBe(rows[2]?.person);

    const { groups } = (await one.app.call("/queue")).body;
    expect(groups).toMatchObject([{ count: 2, users: 2, error: expect.stringContaining(masked) }]);
    const discard = { uuid: "b", accountSid: rows[1]?.accountSid };
    await act(one.app, "/dead-letters/discard", discard);
    isUp = true;
    const choice = { filter: {}, untilMs: Date.now() };
    await untilShown(two.app, "forged rejected,b discarded,a dead");
    expect(await act(two.app, "/resend", choice)).toMatchObject({ result: { changed: 1 } });
    await untilShown(one.app, "forged rejected,b discarded,a handled");
    expect(handled).toEqual(["a"]);

    await worker.close();
    await Promise.all([one.queue.close(), two.queue.close()]);
    const three = await startProcess(url);
    const { rows: after, changes } = await readShown(three.app);
    expect(after).toMatchObject([
      { uuid: "forged" },
      { uuid: "b", message: "alice discarded its event." },
      { uuid: "a", resent: { by: "alice" }, handlersMs: expect.any(Number) },
    ]);
    expect(changes).toMatchObject([
      { action: "request.resend", by: "alice", count: 1 },
      { action: "dead-letter.discard", by: "alice", uuid: "b", count: 1 },
    ]);
    await three.queue.close();
  });
});
