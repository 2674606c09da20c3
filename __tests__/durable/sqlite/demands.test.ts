import { openDatabase, type Database } from "../../../lib/durable/sqlite/database";
import { createDemands } from "../../../lib/durable/sqlite/demands";
import { createEventTable } from "../../../lib/durable/sqlite/event-table";
import { toNewFileEvent } from "../../../lib/durable/sqlite/new-event";
import { createOutcomeTable } from "../../../lib/durable/sqlite/outcome-table";
import { eventFixture } from "express-push-verification/testing";
import { queuedEvent } from "../../support/durable";
import { createFile, removeFiles } from "../../support/sqlite";

let database: Database;

beforeEach(() => {
  database = openDatabase(createFile(), "q");
});
afterEach(() => {
  database.connection.close();
  removeFiles();
});

function createWithEvents(count: number) {
  const { connection, transact } = database;
  const events = createEventTable(connection, createOutcomeTable(connection), 1);
  transact(true, () => {
    for (let index = 0; index < count; index++) {
      const event = eventFixture("factor.created", { uuid: `u${index}` });
      events.store(toNewFileEvent(queuedEvent(event), undefined, 60_000));
    }
  });
  const demands = createDemands(events);
  const claim = () => transact(false, demands.claim);
  return { demands, claim };
}

it("claims for each worker as many events as it wants", () => {
  const { demands, claim } = createWithEvents(5);
  demands.want({ worker: 1, count: 2 });
  demands.want({ worker: 2, count: 1 });
  const claimed = claim();
  demands.satisfy(claimed);
  expect(claimed.map(({ worker }) => worker)).toEqual([1, 1, 2]);
  expect(demands.isAny()).toBe(false);
  expect(claim()).toEqual([]);
  demands.want({ worker: 1, count: 1 });
  expect(claim()).toHaveLength(1);
});

it("keeps a demand whose events are not there yet", () => {
  const { demands, claim } = createWithEvents(1);
  demands.want({ worker: 1, count: 3 });
  demands.satisfy(claim());
  expect(demands.isAny()).toBe(true);
});

it("claims nothing for a worker that takes no more events", () => {
  const { demands, claim } = createWithEvents(1);
  demands.want({ worker: 1, count: 3 });
  demands.unwant(1);
  expect(demands.isAny()).toBe(false);
  expect(claim()).toEqual([]);
});
