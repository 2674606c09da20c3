import { createBatches, ORDERED } from "../../lib/durable/batches";
import { createGate, nextTurn } from "../support/waiting";

const LAST = 10_000;

/** Batches of a store that stalls until `goOn` is called. */
function createStalled() {
  const batches: number[][] = [];
  const { opened, open } = createGate();
  const add = createBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    await opened;
    return items;
  }, ORDERED);
  return { add, batches, goOn: open };
}

it("runs items as batches of 128, in their order, and asks each a few times only", async () => {
  const { add, batches, goOn } = createStalled();
  const isWanted = jest.fn(() => true);
  const ids = Array.from({ length: LAST }, (_, id) => id);
  const results = Promise.all(ids.map((id) => add(id, isWanted)));
  goOn();
  expect(await results).toEqual(ids);
  expect(batches.flat()).toEqual(ids);
  expect(batches.map(({ length }) => length)).toEqual([...Array<number>(78).fill(128), 16]);
  expect(isWanted.mock.calls.length).toBeLessThan(4 * LAST);
});

it("drops items that are not wanted any more while the store stalls, and keeps the others", async () => {
  const { add, batches, goOn } = createStalled();
  const first = add(-1);
  await nextTurn();
  // An item that is always wanted, before the others.
  const wantedFirst = add(-2);
  let newest = 0;
  const isWanted = jest.fn((id: number) => id > newest - 50);
  const results: Promise<number>[] = [];
  for (let id = 0; id <= LAST; id++) {
    newest = id;
    results.push(add(id, () => isWanted(id)));
  }
  // isWanted is called only a few times for each item.
  expect(isWanted.mock.calls.length).toBeLessThan(2 * LAST);
  isWanted.mockClear();
  goOn();
  expect(await first).toBe(-1);
  const wanted = Array.from({ length: 50 }, (_, index) => LAST - 49 + index);
  expect(await Promise.all(results.slice(-50))).toEqual(wanted);
  expect(await wantedFirst).toBe(-2);
  expect(batches).toEqual([[-1], [-2, ...wanted]]);
  // The unwanted items were dropped earlier.
  expect(isWanted.mock.calls.length).toBeLessThanOrEqual(100);
});

it("rejects each item of a batch that fails, and runs the next", async () => {
  let count = 0;
  const add = createBatches(async (items: readonly number[]) => {
    if (++count === 1) throw new Error("down");
    return items;
  }, ORDERED);
  await expect(Promise.all([add(1), add(2)])).rejects.toThrow("down");
  expect(await add(3)).toBe(3);
});
