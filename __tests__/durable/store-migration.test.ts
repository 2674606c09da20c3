import { EVENT_FORMAT, migrateEvent } from "../../lib/durable/event-migration";
import { planMigration } from "../../lib/durable/store-migration";

const store = { engine: "REDIS", what: "the queue" } as const;
const STEPS = { 3: "to 3", 4: "to 4" };
const own = { schema: 4, events: 2, writtenBy: "2.0.0" };
const found = (schema: number, events: number) => ({ schema, events, writtenBy: "1.0.0" });

it.each<[schema: number, events: number, steps: string[], written?: object]>([
  [4, 2, []],
  [5, 2, []],
  [4, 3, []],
  [5, 3, []],
  [3, 2, ["to 4"], own],
  [2, 1, ["to 3", "to 4"], own],
  [4, 1, [], own],
  [5, 1, [], { ...own, schema: 5 }],
])("plans the migration of schema %i and events %i: %j, then %j", (schema, events, ...expected) => {
  const [steps, format] = expected;
  expect(planMigration(store, found(schema, events), STEPS, own)).toEqual({ steps, format });
});

it.each<[what: string, number: ReturnType<typeof found> | undefined, code: string, words: RegExp]>([
  ["schema", found(6, 2), "REDIS_NEWER", /Install express-push-verification 1\.0\.0 or newer/],
  ["events", found(4, 4), "REDIS_NEWER", /Install express-push-verification 1\.0\.0 or newer/],
  ["schema", found(1, 1), "REDIS_OLDER", /Install the version 1\.0\.0,/],
  ["no format", undefined, "REDIS_OLDER", /Install the version that wrote it,/],
])("refuses a store by its %s, %j: %s", (_what, number, code, words) => {
  const plan = () => planMigration(store, number, STEPS, own);
  expect(plan).toThrow(expect.objectContaining({ code }) as Error);
  expect(plan).toThrow(words);
});

describe("migrateEvent", () => {
  const rename = {
    2: ({ format: _one, old, ...event }: { format?: unknown; old?: unknown }) => ({
      format: 2,
      ...event,
      renamed: old,
    }),
  };
  it.each([
    ["of its own number", { format: 2, renamed: "a" }, { format: 2, renamed: "a" }],
    ["of the number before", { format: 1, old: "a" }, { format: 2, renamed: "a" }],
    [
      "of the next number",
      { format: 3, renamed: "a", more: 1 },
      { format: 3, renamed: "a", more: 1 },
    ],
  ])("reads an event %s", (_what, stored, expected) => {
    expect(migrateEvent(stored, rename)).toEqual(expected);
  });

  it.each<[unknown, RegExp]>([
    [{ format: EVENT_FORMAT + 2 }, /Update this process/],
    [{ format: 0 }, /older/],
    [{}, /older/],
    [null, /older/],
  ])("throws for %j", (stored, words) => {
    expect(() => migrateEvent(stored)).toThrow(words);
  });
});
