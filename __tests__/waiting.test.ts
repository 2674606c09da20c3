import { getEventListeners } from "node:events";
import { eventFixture } from "express-push-verification/testing";
import { assertWait, createWaiting } from "../lib/waiting";

const event = eventFixture("challenge.approved");
const sid = event.challenge_sid;

describe("createWaiting", () => {
  it("says when the first one comes and when the last one leaves", async () => {
    const log: string[] = [];
    const waiting = createWaiting({
      onFirst: (of) => void log.push(`first ${of}`),
      onLast: (of) => void log.push(`last ${of}`),
    });
    const both = [waiting.wait(sid, {}), waiting.wait(sid, {})];
    expect(waiting.listSids()).toEqual([sid]);
    waiting.resolve(event);
    expect(await Promise.all(both)).toEqual([event, event]);
    expect([log, waiting.listSids()]).toEqual([[`first ${sid}`, `last ${sid}`], []]);
    await expect(waiting.wait(sid, { timeoutMs: 5 })).rejects.toHaveProperty(
      "code",
      "CHALLENGE_TIMEOUT",
    );
    expect(log).toHaveLength(4);
  });

  it("resolves nobody who waits for another challenge", async () => {
    const waiting = createWaiting();
    const other = waiting.wait(`YC${"0".repeat(32)}`, { timeoutMs: 20 });
    waiting.resolve(event);
    await expect(other).rejects.toHaveProperty("code", "CHALLENGE_TIMEOUT");
  });

  it("rejects 50 waits on one signal, which gets too few listeners for a warning", async () => {
    const waiting = createWaiting();
    const stop = new AbortController();
    const { signal } = stop;
    const waits = Array.from({ length: 50 }, () => waiting.wait(sid, { signal }));
    // Node prints MaxListenersExceededWarning above 10, where a test of Jest cannot listen.
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(10);
    const reason = new Error("stopped");
    stop.abort(reason);
    expect(await Promise.allSettled(waits)).toEqual(Array(50).fill({ status: "rejected", reason }));
    expect([waiting.listSids(), getEventListeners(signal, "abort")]).toEqual([[], []]);
  });

  it("rejects who waits when it closes", async () => {
    const waiting = createWaiting();
    const waited = waiting.wait(sid, {});
    waiting.close();
    await expect(waited).rejects.toHaveProperty("code", "CLOSING");
    await expect(waiting.wait(sid, {})).rejects.toHaveProperty("code", "CLOSING");
  });
});

describe("assertWait", () => {
  it("takes a SID, with a timeout or without", () => {
    expect(() => assertWait(sid, {})).not.toThrow();
    expect(() => assertWait(sid, { timeoutMs: 1 })).not.toThrow();
    expect(() => assertWait(sid, { timeoutMs: 0 })).toThrow(TypeError);
    expect(() => assertWait("YC", {})).toThrow(TypeError);
  });
});
