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

  it("evicts the oldest over maxBytes, and calls onFirstEviction once", () => {
    const onFirstEviction = jest.fn();
    const sizeOf = (_key: string, value: number) => value;
    const map = createExpiringMap<number>({
      ttlMs: 100,
      maxEntries: 10,
      maxBytes: 10,
      sizeOf,
      onFirstEviction,
    });
    map.add("a", () => 6);
    map.add("b", () => 4);
    expect([map.get("a"), map.get("b")]).toEqual([6, 4]);
    expect(onFirstEviction).not.toHaveBeenCalled();
    map.add("c", () => 3);
    map.add("d", () => 4);
    expect(["a", "b", "c", "d"].map((key) => map.get(key))).toEqual([undefined, undefined, 3, 4]);
    expect(onFirstEviction).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(100);
    map.add("e", () => 10);
    expect(map.get("e")).toBe(10);
  });
});
