import { createAccountMap } from "../../lib/memory/account-map";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const createMap = (bounds: object = {}) =>
  createAccountMap<number>({
    ttlMs: 100,
    maxEntries: 10,
    maxBytes: 1_000,
    sizeOf: (_key, value) => value,
    ...bounds,
  });

describe("createAccountMap", () => {
  it("keeps equal keys of accounts apart", () => {
    const map = createMap();
    expect([map.add("A", "k", () => 1), map.add("B", "k", () => 2)]).toEqual([true, true]);
    expect([map.get("A", "k"), map.get("B", "k"), map.get("C", "k")]).toEqual([1, 2, undefined]);
    expect(map.add("A", "k", () => 3)).toBe(false);
    expect(map.get("A", "k")).toBe(1);
  });

  it("lets entries expire", () => {
    const map = createMap();
    map.add("A", "k", () => 1);
    jest.advanceTimersByTime(100);
    expect(map.get("A", "k")).toBeUndefined();
    expect(map.add("A", "k", () => 2)).toBe(true);
  });

  it.each([
    ["maxEntries", { maxEntries: 5 }],
    ["maxBytes", { maxBytes: 500 }],
  ])("evicts from the account that has the most, over %s", (_bound, bounds) => {
    const onFirstEviction = jest.fn();
    const map = createMap({ ...bounds, onFirstEviction });
    map.add("A", "1", () => 100);
    map.add("A", "2", () => 100);
    for (let index = 0; index < 50; index++) map.add("B", String(index), () => 100);
    expect([map.get("A", "1"), map.get("A", "2")]).toEqual([100, 100]);
    expect([46, 47, 48, 49].map((key) => map.get("B", String(key)))).toEqual([
      undefined,
      100,
      100,
      100,
    ]);
    expect(onFirstEviction).toHaveBeenCalledTimes(1);
  });

  it("evicts from the largest account to add an entry of a small one", () => {
    const map = createMap({ maxEntries: 5 });
    for (let index = 0; index < 5; index++) map.add("B", String(index), () => 1);
    map.add("A", "1", () => 1);
    expect([map.get("A", "1"), map.get("B", "0"), map.get("B", "1")]).toEqual([1, undefined, 1]);
  });

  it("stays within its bounds for one account, and for values over the bound", () => {
    const map = createMap({ maxEntries: 3 });
    for (let index = 0; index < 10; index++) map.add("A", String(index), () => 1);
    expect([6, 7, 8, 9].map((key) => map.get("A", String(key)))).toEqual([undefined, 1, 1, 1]);
    map.add("A", "huge", () => 5_000);
    expect(map.get("A", "huge")).toBeUndefined();
    expect(map.add("A", "small", () => 1)).toBe(true);
    expect(map.get("A", "small")).toBe(1);
  });
});
