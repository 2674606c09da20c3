import { createBatches, ORDERED } from "../../lib/durable/batches";
import { createGate, nextTurn } from "../support/waiting";

const IDS = Array.from({ length: 10_000 }, (_, id) => id);

function createStalled() {
  const batches: number[][] = [];
  const { opened, open } = createGate();
  const add = createBatches(async (items: readonly number[]) => {
    batches.push([...items]);
    await opened;
    return items;
  }, ORDERED);
  return { add, batches, open };
}

it("runs items as ordered batches of 128", async () => {
  const { add, batches, open } = createStalled();
  const isWanted = jest.fn(() => true);
  const results = Promise.all(IDS.map((id) => add(id, isWanted)));
  open();
  expect(await results).toEqual(IDS);
  expect(batches.flat()).toEqual(IDS);
  expect(batches.map(({ length }) => length)).toEqual([...Array<number>(78).fill(128), 16]);
  expect(isWanted.mock.calls.length).toBeLessThan(4 * IDS.length);
});

it("drops unwanted items while the store stalls", async () => {
  const { add, batches, open } = createStalled();
  const first = add(-1);
  await nextTurn();
  // An item that is always wanted, before the others.
  const wantedFirst = add(-2);
  let newest = 0;
  const isWanted = jest.fn((id: number) => id > newest - 50);
  const results = IDS.map((id) => {
    newest = id;
    return add(id, () => isWanted(id));
  });
  // Each was asked a few times only, and those that are not wanted are dropped by now.
  expect(isWanted.mock.calls.length).toBeLessThan(2 * IDS.length);
  isWanted.mockClear();
  open();
  const wanted = [-2, ...IDS.slice(-50)];
  expect(await Promise.all([first, wantedFirst, ...results.slice(-50)])).toEqual([-1, ...wanted]);
  expect(batches).toEqual([[-1], wanted]);
  expect(isWanted.mock.calls.length).toBeLessThanOrEqual(100);
});

it("runs the next batch after one that failed or was unwanted", async () => {
  const run = jest.fn(async (items: readonly number[]) => items);
  run.mockRejectedValueOnce(new Error("down"));
  const add = createBatches(run, ORDERED);
  const failed = await Promise.allSettled([add(1), add(2)]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  void add(0, () => false);
  await nextTurn();
  expect(await add(3)).toBe(3);
});
