import fc from "fast-check";
import { createRecent } from "../lib/recent";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe("createRecent", () => {
  it("remembers a value for ttlMs", () => {
    const recent = createRecent<number>({ ttlMs: 100, maxEntries: 10 });
    recent.add("a", () => 1);
    jest.advanceTimersByTime(99);
    expect(recent.get("a")).toBe(1);
    jest.advanceTimersByTime(1);
    expect(recent.get("a")).toBeUndefined();
  });

  it("keeps the first value of a key, and the time of it", () => {
    const recent = createRecent<number>({ ttlMs: 100, maxEntries: 10 });
    recent.add("a", () => 1);
    jest.advanceTimersByTime(60);
    recent.add("a", () => 2);
    expect(recent.get("a")).toBe(1);
    jest.advanceTimersByTime(40);
    recent.add("a", () => 3);
    expect(recent.get("a")).toBe(3);
  });

  it("says whether a value was new", () => {
    const recent = createRecent<number>({ ttlMs: 100, maxEntries: 10 });
    expect([recent.add("a", () => 1), recent.add("a", () => 2), recent.add("b", () => 3)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("remembers what a list of the last keys would, however often it is full", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 12 }), { maxLength: 100 }),
        (maxEntries, keys) => {
          const recent = createRecent<number>({ ttlMs: 100, maxEntries });
          const model: number[] = [];
          for (const [index, key] of keys.entries()) {
            recent.add(String(key), () => index);
            if (!model.includes(key)) model.push(key);
            if (model.length > maxEntries) model.shift();
            for (let other = 0; other <= 12; other++) {
              expect(recent.get(String(other)) !== undefined).toBe(model.includes(other));
            }
          }
        },
      ),
    );
  });
});
