import { createLanes } from "../../lib/emulator/lanes";

const { signal } = new AbortController();
const hourMs = 3_600_000;

/** Whether a promise is settled once everything that can happen by itself has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  const later = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, later])) !== pending;
}

describe("lanes", () => {
  it("let one go after the other, within a lane", async () => {
    const lanes = createLanes();
    const [first, second, elsewhere] = [lanes.enter("a"), lanes.enter("a"), lanes.enter("b")];
    expect(await isSettled(first.arrived)).toBe(true);
    expect(await isSettled(elsewhere.arrived)).toBe(true);
    expect(await isSettled(second.arrived)).toBe(false);
    first.pass();
    expect(await isSettled(second.arrived)).toBe(true);
  });

  it("hold one until a later one is finished, not an earlier one", async () => {
    const lanes = createLanes();
    const [earlier, held, later] = [lanes.enter("a"), lanes.enter("a"), lanes.enter("a")];
    const overtaken = held.overtaken(hourMs, signal);
    earlier.finish();
    expect(await isSettled(overtaken)).toBe(false);
    lanes.letGo();
    expect(await isSettled(overtaken)).toBe(false);
    later.finish();
    expect(await isSettled(overtaken)).toBe(true);
  });

  it("hold nobody for whom nobody comes", async () => {
    const lanes = createLanes();
    const overtaken = lanes.enter("a").overtaken(hourMs, signal);
    lanes.enter("b");
    expect(await isSettled(overtaken)).toBe(false);
    const stop = lanes.letGo();
    expect(await isSettled(overtaken)).toBe(true);
    expect(await isSettled(lanes.enter("c").overtaken(hourMs, signal))).toBe(true);
    stop();
    const again = lanes.enter("d").overtaken(hourMs, signal);
    expect(await isSettled(again)).toBe(false);
    lanes.letGo();
    await again;
  });

  it("hold nobody for longer than asked, nor after the end", async () => {
    await createLanes().enter("a").overtaken(1, signal);
    const ending = new AbortController();
    const overtaken = createLanes().enter("a").overtaken(hourMs, ending.signal);
    ending.abort();
    expect(await isSettled(overtaken)).toBe(true);
  });
});
