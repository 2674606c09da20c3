import { createLookupSlots } from "../../lib/receiver/lookup-slots";

const LIMITS = { maxRunning: 2, maxWaiting: 3, maxWaitMs: 60_000, maxRunMs: 60_000 };
const never = () => new Promise<never>(() => {});
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Lookups that the test settles. */
function createLookups() {
  const started: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const lookup = (name: string) => () => {
    started.push(name);
    return new Promise<string>((resolve, reject) => {
      ends.set(name, (failure) => (failure === undefined ? resolve(name) : reject(failure)));
    });
  };
  const end = async (name: string, failure?: Error) => {
    ends.get(name)?.(failure);
    await turn();
  };
  return { started, lookup, end };
}

describe("createLookupSlots", () => {
  it("runs maxRunning at a time, the newest waiting one first", async () => {
    const { started, lookup, end } = createLookups();
    const runInSlot = createLookupSlots(LIMITS);
    const found = ["a", "b", "c", "d"].map((name) => Promise.resolve(runInSlot(lookup(name))));
    expect(started).toEqual(["a", "b"]);
    await end("a");
    expect(started).toEqual(["a", "b", "d"]);
    await end("b");
    expect(started).toEqual(["a", "b", "d", "c"]);
    await end("c");
    await end("d");
    expect(await Promise.all(found)).toEqual(["a", "b", "c", "d"]);
  });

  it("frees the slot of a lookup that fails, at once or later", async () => {
    const { lookup, end } = createLookups();
    const runInSlot = createLookupSlots({ ...LIMITS, maxRunning: 1 });
    const fail = () => {
      throw new Error("at once");
    };
    expect(() => runInSlot(fail)).toThrow("at once");
    const later = Promise.resolve(runInSlot(lookup("a"))).catch((error: Error) => error.message);
    const waited = Promise.resolve(runInSlot(fail)).catch((error: Error) => error.message);
    await end("a", new Error("later"));
    expect(await Promise.all([later, waited])).toEqual(["later", "at once"]);
    expect(runInSlot(() => 1)).toBe(1);
  });

  it("uses no slot for a lookup that returns no promise", () => {
    const runInSlot = createLookupSlots(LIMITS);
    expect([1, 2, 3, 4].map((value) => runInSlot(() => value))).toEqual([1, 2, 3, 4]);
  });

  it("calls then of a query once", async () => {
    const then = jest.fn((resolve: (value: string) => void) => resolve("found"));
    // oxlint-disable-next-line unicorn/no-thenable -- the subject of the test
    const query = { then } as unknown as Promise<string>;
    const found = createLookupSlots(LIMITS)(() => query);
    await expect(found).resolves.toBe("found");
    expect(then).toHaveBeenCalledTimes(1);
  });

  it("rejects the oldest waiting one if more than maxWaiting wait", async () => {
    const { started, lookup, end } = createLookups();
    const runInSlot = createLookupSlots({ ...LIMITS, maxRunning: 1, maxWaiting: 1 });
    void runInSlot(lookup("a"));
    const oldest = runInSlot(lookup("b"));
    const newest = runInSlot(lookup("c"));
    await expect(oldest).rejects.toMatchObject({ code: "OVERLOADED", status: 503 });
    await end("a");
    await end("c");
    await expect(newest).resolves.toBe("c");
    expect(started).toEqual(["a", "c"]);
  });

  it("rejects a lookup that waited for maxWaitMs", async () => {
    const { started, lookup, end } = createLookups();
    const runInSlot = createLookupSlots({ ...LIMITS, maxRunning: 1, maxWaitMs: 20 });
    void runInSlot(lookup("a"));
    const late = runInSlot(lookup("b"));
    await new Promise((resolve) => setTimeout(resolve, 40));
    void end("a");
    await expect(late).rejects.toHaveProperty("code", "OVERLOADED");
    expect(started).toEqual(["a"]);
  });

  it("frees the slot of a lookup that has not settled for maxRunMs", async () => {
    const runInSlot = createLookupSlots({ ...LIMITS, maxRunning: 1, maxRunMs: 20 });
    void runInSlot(never);
    await expect(runInSlot(() => Promise.resolve("next"))).resolves.toBe("next");
  });
});
