import { createDeliveryOrder } from "../../../lib/emulator/outbound/delivery-order";

const { signal } = new AbortController();
const hourMs = 3_600_000;

/** Returns whether a promise is settled after all pending microtasks. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  const later = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, later])) !== pending;
}

describe("createDeliveryOrder", () => {
  it("makes deliveries to one webhook ready one after the other", async () => {
    const order = createDeliveryOrder();
    const [first, second, elsewhere] = [order.add("a"), order.add("a"), order.add("b")];
    expect(await isSettled(first.ready)).toBe(true);
    expect(await isSettled(elsewhere.ready)).toBe(true);
    expect(await isSettled(second.ready)).toBe(false);
    first.end();
    expect(await isSettled(second.ready)).toBe(true);
  });

  it("makes a delivery wait for a later one, not for an earlier one", async () => {
    const order = createDeliveryOrder();
    const [earlier, waiting, later] = [order.add("a"), order.add("a"), order.add("a")];
    const overtaken = waiting.waitForLater(hourMs, signal);
    earlier.finish();
    expect(await isSettled(overtaken)).toBe(false);
    order.stopWaiting();
    expect(await isSettled(overtaken)).toBe(false);
    later.finish();
    expect(await isSettled(overtaken)).toBe(true);
  });

  it("ends the wait of a delivery without a later one after stopWaiting", async () => {
    const order = createDeliveryOrder();
    const overtaken = order.add("a").waitForLater(hourMs, signal);
    order.add("b");
    expect(await isSettled(overtaken)).toBe(false);
    const allowWaiting = order.stopWaiting();
    expect(await isSettled(overtaken)).toBe(true);
    expect(await isSettled(order.add("c").waitForLater(hourMs, signal))).toBe(true);
    allowWaiting();
    const again = order.add("d").waitForLater(hourMs, signal);
    expect(await isSettled(again)).toBe(false);
    order.stopWaiting();
    await again;
  });

  it("ends a wait after its time-out, and when the signal aborts", async () => {
    await createDeliveryOrder().add("a").waitForLater(1, signal);
    const ending = new AbortController();
    const overtaken = createDeliveryOrder().add("a").waitForLater(hourMs, ending.signal);
    ending.abort();
    expect(await isSettled(overtaken)).toBe(true);
  });
});
