import fc from "fast-check";
import { createExpiringMap } from "../../lib/memory/expiring-map";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe("createExpiringMap", () => {
  it("keeps a value for ttlMs", () => {
    const map = createExpiringMap<number>({ ttlMs: 100, maxEntries: 10 });
    map.add("a", () => 1);
    jest.advanceTimersByTime(99);
    expect(map.get("a")).toBe(1);
    jest.advanceTimersByTime(1);
    expect(map.get("a")).toBeUndefined();
  });

  it("keeps the first value of a key, and its time", () => {
    const map = createExpiringMap<number>({ ttlMs: 100, maxEntries: 10 });
    map.add("a", () => 1);
    jest.advanceTimersByTime(60);
    map.add("a", () => 2);
    expect(map.get("a")).toBe(1);
    jest.advanceTimersByTime(40);
    map.add("a", () => 3);
    expect(map.get("a")).toBe(3);
  });

  it("returns whether a value was added", () => {
    const map = createExpiringMap<number>({ ttlMs: 100, maxEntries: 10 });
    expect([map.add("a", () => 1), map.add("a", () => 2), map.add("b", () => 3)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("keeps the same entries as a list of the last keys", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 12 }), { maxLength: 100 }),
        (maxEntries, keys) => {
          const map = createExpiringMap<number>({ ttlMs: 100, maxEntries });
          const model: number[] = [];
          for (const [index, key] of keys.entries()) {
            map.add(String(key), () => index);
            if (!model.includes(key)) model.push(key);
            if (model.length > maxEntries) model.shift();
            for (let other = 0; other <= 12; other++) {
              expect(map.get(String(other)) !== undefined).toBe(model.includes(other));
            }
          }
        },
      ),
    );
  });
});
