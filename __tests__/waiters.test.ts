import { getEventListeners } from "node:events";
import { eventFixture } from "express-push-verification/testing";
import { createWaiters } from "../lib/waiters";

const event = eventFixture("challenge.approved");
const longWait = { timeoutMs: 60_000 };

afterEach(() => jest.useRealTimers());

describe("createWaiters", () => {
  it("calls onFirst for the first wait of a key and onLast after the last", async () => {
    const log: string[] = [];
    const waiters = createWaiters({
      onFirst: (key) => void log.push(`first ${key}`),
      onLast: (key) => void log.push(`last ${key}`),
    });
    const both = [waiters.wait("a", longWait), waiters.wait("a", longWait)];
    expect(waiters.listKeys()).toEqual(["a"]);
    waiters.resolve("a", event);
    expect(await Promise.all(both)).toEqual([event, event]);
    expect([log, waiters.listKeys()]).toEqual([["first a", "last a"], []]);
    await expect(waiters.wait("a", { timeoutMs: 5 })).rejects.toMatchObject({
      code: "CHALLENGE_TIMEOUT",
      status: 504,
    });
    expect(log).toHaveLength(4);
  });

  it("resolves no wait for another key", async () => {
    const waiters = createWaiters();
    const other = waiters.wait("b", { timeoutMs: 20 });
    waiters.resolve("a", event);
    await expect(other).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });

  it("rejects a wait with the reason of its signal", async () => {
    const waiters = createWaiters();
    const controller = new AbortController();
    const reason = new Error("the user left");
    const wait = waiters.wait("a", { ...longWait, signal: controller.signal });
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    const late = waiters.wait("a", { ...longWait, signal: controller.signal });
    await expect(late).rejects.toBe(reason);
    expect(waiters.listKeys()).toEqual([]);
  });

  it("rejects 50 waits on one signal, which gets too few listeners for a warning", async () => {
    const waiters = createWaiters();
    const stop = new AbortController();
    const { signal } = stop;
    const waits = Array.from({ length: 50 }, () => waiters.wait("a", { ...longWait, signal }));
    // Node prints MaxListenersExceededWarning above 10, where a test of Jest cannot listen.
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(10);
    const reason = new Error("stopped");
    stop.abort(reason);
    expect(await Promise.allSettled(waits)).toEqual(Array(50).fill({ status: "rejected", reason }));
    expect([waiters.listKeys(), getEventListeners(signal, "abort")]).toEqual([[], []]);
  });

  it("leaves no timer behind", async () => {
    jest.useFakeTimers();
    const waiters = createWaiters();
    const wait = waiters.wait("a", longWait);
    waiters.resolve("a", event);
    await wait;
    expect(jest.getTimerCount()).toBe(0);
  });

  it("rejects more than maxWaiting waits, and counts those that are over no longer", async () => {
    const waiters = createWaiters({ maxWaiting: 2 });
    const waits = [waiters.wait("a", longWait), waiters.wait("a", longWait)];
    await expect(waiters.wait("b", longWait)).rejects.toHaveProperty("code", "OVERLOADED");
    waiters.resolve("a", event);
    await Promise.all(waits);
    const later = waiters.wait("b", longWait);
    waiters.resolve("b", event);
    await expect(later).resolves.toBe(event);
  });

  it("rejects pending and later waits when it closes", async () => {
    const waiters = createWaiters();
    const wait = waiters.wait("a", longWait);
    waiters.close();
    await expect(wait).rejects.toHaveProperty("code", "CLOSING");
    await expect(waiters.wait("a", longWait)).rejects.toHaveProperty("code", "CLOSING");
  });
});
