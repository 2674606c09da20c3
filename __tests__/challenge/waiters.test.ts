import { eventFixture } from "express-push-verification/testing";
import { createWaiters } from "../../lib/challenge/waiters";

const event = eventFixture("challenge.approved");
const longWait = { timeoutMs: 60_000, account: "a" };

describe("createWaiters", () => {
  it("lists a key from its first wait until the last one has ended", async () => {
    const waiters = createWaiters();
    const both = [waiters.wait("a", longWait), waiters.wait("a", longWait)];
    expect([waiters.listKeys(), waiters.has("a"), waiters.has("b")]).toEqual([["a"], true, false]);
    waiters.resolve("a", event);
    expect(await Promise.all(both)).toEqual([event, event]);
    expect(waiters.listKeys()).toEqual([]);
    const late = waiters.wait("a", { ...longWait, timeoutMs: 5 });
    await expect(late).rejects.toMatchObject({ code: "CHALLENGE_TIMEOUT", status: 504 });
    expect(waiters.has("a")).toBe(false);
  });

  it("gives each user an equal share: 10,000 waits of one user evict no other", async () => {
    const waiters = createWaiters();
    const waitOf = (entityIdentity: string, index: number) =>
      waiters.wait(`${entityIdentity} ${index}`, { ...longWait, entityIdentity });
    const ada = waitOf("ada", 1);
    const floods = Array.from({ length: 10_050 }, (_, index) => waitOf("eve", index));
    const flood = Promise.allSettled(floods);
    const bob = waitOf("bob", 1);
    waiters.resolve("ada 1", event);
    waiters.resolve("bob 1", event);
    expect(await Promise.all([ada, bob])).toEqual([event, event]);
    waiters.close();
    const evicted = (await flood).filter(
      (one) => one.status === "rejected" && one.reason.code === "OVERLOADED",
    );
    expect(evicted).toHaveLength(52);
  });

  it("rejects the oldest above maxWaiting pending waits, and does not count ended ones", async () => {
    const waiters = createWaiters(2);
    for (let times = 0; times < 3; times++) {
      const ended = waiters.wait("ended", longWait);
      waiters.resolve("ended", event);
      await ended;
    }
    const [first, second, third] = ["a", "b", "c"].map((key) => waiters.wait(key, longWait));
    await expect(first).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
    for (const key of ["b", "c"]) waiters.resolve(key, event);
    expect(await Promise.all([second, third])).toEqual([event, event]);
  });
});
