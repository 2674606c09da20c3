import fc from "fast-check";
import { FairMap, type FairMapOptions } from "../../lib/kit/fair-map";

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const createMap = (bounds: Partial<FairMapOptions<number>> = {}) =>
  new FairMap<number>({ ttlMs: 100, maxEntries: 10, ...bounds });

describe("FairMap", () => {
  it("keeps equal keys of accounts apart", () => {
    const map = createMap();
    expect(map.add("A", "k", 1)).toBeDefined();
    expect(map.add("B", "k", 2)).toBeDefined();
    expect(map.get("A", "k")).toBe(1);
    expect(map.get("B", "k")).toBe(2);
    expect(map.get("C", "k")).toBeUndefined();
  });

  it("keeps the first value of a key for ttlMs", () => {
    const map = createMap();
    map.add("A", "k", 1);
    jest.advanceTimersByTime(99);
    expect(map.add("A", "k", 2)).toBeUndefined();
    expect(map.get("A", "k")).toBe(1);
    jest.advanceTimersByTime(1);
    expect(map.get("A", "k")).toBeUndefined();
    expect(map.add("A", "k", 2)).toBeDefined();
    jest.advanceTimersByTime(100);
    expect(map.add("A", "k", 3)).toBeDefined();
    expect(map.get("A", "k")).toBe(3);
  });

  it("evicts nothing of an active account for the expired entries of idle ones", () => {
    const evicted: number[] = [];
    const map = createMap({ maxEntries: 100, onEvict: (value) => evicted.push(value) });
    for (let idle = 0; idle < 60; idle++) map.add(`idle ${idle}`, "k", -1);
    jest.advanceTimersByTime(100);
    for (let index = 0; index < 60; index++) map.add("A", String(index), index);
    for (let index = 0; index < 40; index++) map.add("B", String(index), 100 + index);
    expect(evicted).toEqual([]);
    map.add("B", "40", 140);
    expect(evicted).toEqual([0]);
  });

  // Its bytes, 218 for an entry, 750 for its owner, and two for each character of a key beyond ASCII.
  it.each([
    ["k", 974],
    ["ab", 975],
    ["é", 975],
  ])("keeps an entry of the key %s in %i bytes", (key, maxBytes) => {
    for (const lacking of [1, 0]) {
      const map = createMap({ maxBytes: maxBytes - lacking });
      map.add("A", key, 1, { bytes: 5 });
      expect(map.get("A", key)).toBe(lacking === 1 ? undefined : 1);
    }
  });

  it("uses the numbers of removed entries again", () => {
    const values = new Map<number, number>();
    const map = createMap({ values });
    map.remove(map.add("A", "k", 1)!);
    expect(values.size).toBe(0);
    map.add("A", "l", 2);
    expect([...values]).toEqual([[0, 2]]);
  });

  it("hashes with a random seed, which it takes with its first entry", () => {
    const random = jest.spyOn(crypto, "getRandomValues");
    jest.isolateModules(() => {
      const { FairMap: Fresh } = jest.requireActual("../../lib/kit/fair-map");
      const map = new Fresh({ maxEntries: 1 });
      expect(random).toHaveBeenCalledTimes(0);
      map.add("A", "k", 1);
      expect(random).toHaveBeenCalledTimes(1);
    });
    random.mockRestore();
  });

  it("evicts the oldest of the owner with the most in the account with the most", () => {
    const operation = fc.record({
      account: fc.constantFrom("A", "B", "C"),
      owner: fc.constantFrom("", "b", "c"),
      removes: fc.oneof(
        { weight: 4, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.nat() },
      ),
    });
    const bounds = fc.constantFrom({ maxEntries: 8 }, { maxEntries: 100, maxBytes: 8_000 });
    fc.assert(
      fc.property(bounds, fc.array(operation, { maxLength: 60 }), (bound, operations) => {
        type Held = { account: string; owner: string; remove: () => void };
        const held: Held[] = [];
        const evicted: Held[] = [];
        const map = new FairMap<Held>({ ...bound, onEvict: (one) => void evicted.push(one) });
        const count = (by: (one: Held) => boolean) => held.filter(by).length;
        for (const [index, { account, owner, removes }] of operations.entries()) {
          if (removes !== null && held.length > 0) {
            const [one] = held.splice(removes % held.length, 1);
            one?.remove();
            one?.remove();
          }
          const added: Held = { account, owner, remove: () => map.remove(entry) };
          held.push(added);
          const entry = map.add(account, `k${index}`, added, { owner, bytes: 500 })!;
          if (bound.maxBytes === undefined) expect(evicted).toHaveLength(held.length > 8 ? 1 : 0);
          for (const one of evicted.splice(0)) {
            const ofAccount = (name: string) => count((other) => other.account === name);
            const ofOwner = (name: string) =>
              count((other) => other.account === one.account && other.owner === name);
            const accounts = [...new Set(held.map((other) => other.account))];
            const most = Math.max(...accounts.map(ofAccount));
            if (bound.maxBytes === undefined) expect(ofAccount(one.account)).toBe(most);
            expect(ofOwner(one.owner)).toBe(Math.max(...["", "b", "c"].map(ofOwner)));
            const oldest = held.findIndex(
              (other) => other.account === one.account && other.owner === one.owner,
            );
            expect(held[oldest]).toBe(one);
            held.splice(oldest, 1);
          }
          if (owner === "" && held.includes(added)) {
            expect(map.get(account, `k${index}`)).toBe(added);
          }
        }
      }),
    );
  });

  it("finds exactly the kept ones of thousands of keys of any length", () => {
    const map = new FairMap<number>({ maxEntries: 10_000 });
    const keyOf = (index: number) => `${index} é`.padEnd(index % 60, "0");
    const accountOf = (index: number) => `account ${index % 7}`;
    const entries = Array.from({ length: 5_000 }, (_, index) =>
      map.add(accountOf(index), keyOf(index), index),
    );
    for (const [index, entry] of entries.entries()) if (index % 3 > 0) map.remove(entry!);
    for (let index = 0; index < 5_000; index++) {
      expect(map.get(accountOf(index), keyOf(index))).toBe(index % 3 > 0 ? undefined : index);
    }
    // The numbers of removed entries are used again.
    for (let index = 0; index < 5_000; index++) map.add(accountOf(index), keyOf(index), -index);
    for (let index = 0; index < 5_000; index++) {
      const value = map.get(accountOf(index), keyOf(index));
      expect(value).toBe(index % 3 > 0 ? -index : index);
    }
  });

  it("evicts within 10 % of the largest account when many have about as much", () => {
    const counts = new Map<string, number>();
    const addTo = (account: string, by: number) =>
      counts.set(account, (counts.get(account) ?? 0) + by);
    const map = new FairMap<string>({
      maxEntries: 1_000,
      onEvict(account) {
        const most = Math.max(...counts.values());
        expect(counts.get(account)).toBeGreaterThanOrEqual(0.9 * most);
        expect(counts.get(account)! * counts.size).toBeGreaterThanOrEqual(1_001);
        addTo(account, -1);
      },
    });
    for (let index = 0; index < 3_000; index++) {
      // The first accounts add more than the last ones.
      const account = String(Math.floor(((index * 7_919) % 100) ** 2 / 1_000));
      addTo(account, 1);
      map.add(account, String(index), account);
    }
  });
});
