import { createBacklog } from "../../lib/durable/batches";

interface Operation {
  id: number;
  isWanted: () => boolean;
}

const create = (id: number, isWanted = () => true): Operation => ({ id, isWanted });
const idsOf = (operations: Operation[]) => operations.map(({ id }) => id);

it("returns the oldest operations that are wanted", () => {
  const backlog = createBacklog<Operation>();
  for (let id = 0; id < 6; id++) backlog.add(create(id, () => id !== 1));
  expect(idsOf(backlog.take(4))).toEqual([0, 2, 3]);
  expect(idsOf(backlog.take(4))).toEqual([4, 5]);
  expect(backlog.size()).toBe(0);
});

it("drops operations that are not wanted any more, although none is taken", () => {
  const backlog = createBacklog<Operation>();
  const last = 10_000;
  let newest = 0;
  let largest = 0;
  // 50 operations are wanted at a time.
  for (let id = 0; id <= last; id++) {
    newest = id;
    backlog.add(create(id, () => id > newest - 50));
    largest = Math.max(largest, backlog.size());
  }
  expect(largest).toBeLessThanOrEqual(100);
  expect(idsOf(backlog.take(1_000))).toEqual(Array.from({ length: 50 }, (_, i) => last - 49 + i));
});

it("keeps every operation that is wanted", () => {
  const backlog = createBacklog<Operation>();
  for (let id = 0; id < 10_000; id++) backlog.add(create(id));
  expect(backlog.size()).toBe(10_000);
  expect(idsOf(backlog.take(10_000)).at(-1)).toBe(9_999);
});

it("asks each operation a few times only, however many there are", () => {
  const backlog = createBacklog<Operation>();
  const isWanted = jest.fn(() => true);
  for (let id = 0; id < 10_000; id++) backlog.add(create(id, isWanted));
  expect(isWanted.mock.calls.length).toBeLessThan(20_000);
});

it("forgets how many operations it once held", () => {
  const backlog = createBacklog<Operation>();
  for (let id = 0; id < 10_000; id++) backlog.add(create(id));
  backlog.take(10_000);
  for (let id = 0; id < 10_000; id++) backlog.add(create(id, () => false));
  expect(backlog.size()).toBeLessThanOrEqual(64);
});
