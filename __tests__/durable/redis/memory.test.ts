import { createHandlers, WebhookError } from "express-push-verification";
import type { DurableQueue } from "express-push-verification/durable";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent, silent, untilStats } from "../../support/durable";
import { describeRedisQueues } from "../../support/redis-engine";
import { until } from "../../support/waiting";

const isMemoryReason = (reason: unknown) =>
  reason instanceof WebhookError &&
  reason.code === "STORE_UNAVAILABLE" &&
  reason.cause instanceof Error &&
  /^Redis uses (8[5-9]|9\d) % of its maxmemory/.test(reason.cause.message);

describeRedisQueues("a Redis with a maxmemory", (app) => {
  let queue: DurableQueue;
  const [info, error] = [jest.fn(), jest.fn()];
  beforeEach(async () => {
    for (const log of [info, error]) log.mockClear();
    queue = app.open({ storeTimeoutMs: 1_000, logger: { ...silent, info, error } });
    await queue.ready();
  });

  const store = (uuid: string, size = 1, by = queue) => {
    const factor_friendly_name = "x".repeat(size);
    const event = eventFixture("factor.created", { uuid, factor_friendly_name });
    return by.store(queuedEvent(event), Infinity);
  };
  const usedBytes = () => app.server.readInfo("memory", "used_memory:");
  const setLimit = (bytes: number) =>
    app.server.redis.config("SET", "maxmemory", String(Math.floor(bytes)));

  it("stores no event from 85 % on, and again when workers have drained the queue", async () => {
    await setLimit((await usedBytes()) + 20_000_000);
    let stored = 0;
    let reason: unknown;
    // One after the other: they fill less than 15 % of the memory between two readings. On a busy
    // machine a store may also exceed its time: then the same one again.
    while (!isMemoryReason(reason)) {
      reason = await store(`u${stored}`, 4_000).catch((thrown: unknown) => thrown);
      if (reason === "new") stored++;
    }
    expect(error.mock.calls).toEqual([[expect.anything(), expect.stringContaining("maxmemory")]]);

    let handled = 0;
    queue.work(createHandlers().onAny(() => void handled++));
    await until(() => handled >= stored, 40_000);
    await until(() => store("after").then(Boolean, () => false), 20_000);
    expect(info).toHaveBeenCalledWith({}, expect.stringContaining("memory again"));
  }, 120_000);

  it("that does not show its memory still stores, and a shortage lasts until it shows it", async () => {
    const setUser = (...rights: string[]) => app.server.redis.acl("SETUSER", "app", ...rights);
    await setUser("on", ">hush", "~*", "&*", "+@all", "-info");
    const connection = app.server.url.replace("//", "//app:hush@");
    const own = app.open({ connection, storeTimeoutMs: 600 });
    await setLimit((await usedBytes()) + 1_000_000_000);
    for (const uuid of ["a", "b"]) expect(await store(uuid, 1, own)).toBe("new");

    await setUser("+info");
    await setLimit((await usedBytes()) / 0.9);
    const isShort = () => store("c", 1, own).then(() => false, isMemoryReason);
    await until(isShort);
    await setUser("-info");
    await setLimit(0);
    expect(await isShort()).toBe(true);
    await setUser("+info");
    await until(() => store("d", 1, own).then(Boolean, () => false));
  });

  it("that is full shows that workers take no events", async () => {
    queue.work(createHandlers().onAny(() => {}));
    await untilStats(queue, { workers: 1 });
    await setLimit(1_000_000);
    await untilStats(queue, { workers: 0 }, 40_000);
    await until(() => error.mock.calls.some(([, text]) => /worker.*OOM/.test(String(text))));
    await setLimit(0);
    await untilStats(queue, { workers: 1 }, 40_000);
  }, 120_000);
});
