import { eventFixture } from "express-push-verification/testing";
import {
  changeDeadLetters,
  readQueue,
  type ConsoleQueue,
} from "../../../lib/admin/console/queue-view";
import { ACCOUNT_SID } from "../../support/webhook-requests";
import { createMemoryQueue } from "./memory-queue";

const times = (count: number, error: string) => Array.from({ length: count }, () => error);

describe("readQueue", () => {
  it("has the counts, and no age and no workers when the queue knows none", async () => {
    const stats = { oldestWaitingMs: undefined, workers: undefined };
    expect(await readQueue(createMemoryQueue([], stats), false)).toEqual({
      waiting: 3,
      active: 2,
      delayed: 1,
      deadLetters: 0,
      oldestWaitingMs: undefined,
      workers: undefined,
      groups: [],
      isCut: false,
    });
  });

  it("groups by error: the largest group first, in it the newest 20 dead letters first", async () => {
    const queue = createMemoryQueue(["alone", ...times(25, "down")]);
    const { groups } = await readQueue(queue, false);
    expect(groups.map(({ error, count }) => [error, count])).toEqual([
      ["down", 25],
      ["alone", 1],
    ]);
    const uuids = groups[0]?.deadLetters.map(({ uuid }) => uuid);
    expect(uuids).toHaveLength(20);
    expect([uuids?.[0], uuids?.at(-1)]).toEqual(["uuid-25", "uuid-6"]);
  });

  it("groups long errors by their first 500 characters", async () => {
    const long = "x".repeat(500);
    const { groups } = await readQueue(createMemoryQueue([`${long}1`, `${long}2`]), false);
    expect(groups).toMatchObject([{ error: `${long}…`, count: 2 }]);
  });

  it("groups by cause what differs by the values of the events alone, and masks these", async () => {
    const memory = createMemoryQueue(times(3, "down"));
    const identities = ["jane.doe@example.com", "john@example.com", "ann"];
    const queue: ConsoleQueue = {
      ...memory,
      async *deadLetters() {
        let index = 0;
        for await (const deadLetter of memory.deadLetters()) {
          const identity = identities[index++] ?? "";
          const { uuid } = deadLetter;
          const event = eventFixture("challenge.approved", { uuid, entity_identity: identity });
          yield { ...deadLetter, event, error: `HANDLER_FAILED: no user ${identity} (${uuid})` };
        }
      },
    };
    const view = await readQueue(queue, false);
    const error = "HANDLER_FAILED: no user <entity_identity> (<uuid>)";
    expect(view.groups).toMatchObject([{ error, count: 3 }]);
    for (const identity of identities) expect(JSON.stringify(view)).not.toContain(`"${identity}`);
    expect(JSON.stringify(view)).not.toMatch(/no user [a-z]/);
    const revealed = await readQueue(queue, true);
    expect(revealed.groups[0]?.deadLetters[2]?.error).toContain("jane.doe@example.com");
    expect(await changeDeadLetters(queue, "retry", { error })).toBe(3);
  });

  it("shows only the code of an error whose event cannot be read", async () => {
    const queue = createMemoryQueue(["HANDLER_FAILED: no user jane.doe@example.com"]);
    const { groups } = await readQueue(queue, false);
    expect(groups[0]?.error).toBe("HANDLER_FAILED");
  });

  it.each([
    ["1,000 dead letters", 1_000, "down", false],
    ["more than 1,000 dead letters", 1_001, "down", true],
  ])("says whether it is cut: %s", async (_what, count, error, isCut) => {
    const view = await readQueue(createMemoryQueue(times(count, error)), false);
    expect([view.isCut, view.groups[0]?.count]).toEqual([isCut, 1_000]);
  });

  it("has at most 50 groups, and says that there are more", async () => {
    const errors = Array.from({ length: 51 }, (_, index) => `error ${index}`);
    const view = await readQueue(createMemoryQueue(errors), false);
    expect([view.groups.length, view.isCut]).toEqual([50, true]);
  });

  it.each([
    [false, "us…22", 0],
    [true, "user-7f3a-22", 4],
  ])("shows identities and texts as it may, reveals %s", async (reveals, entity, texts) => {
    const { groups } = await readQueue(createMemoryQueue(times(2, "down")), reveals);
    const [deadLetter, unreadable] = groups[0]?.deadLetters ?? [];
    expect(deadLetter).toMatchObject({ type: "challenge.approved", version: "v2", entity });
    expect(deadLetter?.revealed).toHaveLength(texts);
    expect(unreadable).toMatchObject({
      accountSid: ACCOUNT_SID,
      type: undefined,
      entity: undefined,
      revealed: [],
    });
  });
});

describe("changeDeadLetters", () => {
  const long = "x".repeat(600);
  const ERRORS = ["down", long, "down"];
  const one = { uuid: "uuid-1", accountSid: ACCOUNT_SID };

  it.each([
    ["retry", { deadLetters: [one] }, 1, ["retry uuid-1"]],
    [
      "discard",
      { deadLetters: [one, { ...one, uuid: "gone" }] },
      1,
      ["discard uuid-1", "discard gone"],
    ],
    ["retry", { deadLetters: [{ ...one, uuid: "gone" }] }, 0, ["retry gone"]],
    ["retry", { error: "down" }, 2, ["retry uuid-0", "retry uuid-2"]],
    ["discard", { error: `${"x".repeat(500)}…` }, 1, ["discard uuid-1"]],
    ["retry", { error: "unknown" }, 0, []],
    ["retry", { all: true }, 3, ["retryAll"]],
    ["discard", { all: true }, 3, ["discard uuid-0", "discard uuid-1", "discard uuid-2"]],
  ] as const)("%s %j: %d", async (action, choice, count, changes) => {
    const queue = createMemoryQueue(ERRORS);
    expect(await changeDeadLetters(queue, action, choice)).toBe(count);
    expect(queue.changes).toEqual(changes);
  });

  it("names the account and the receiver of a letter", async () => {
    const queue = createMemoryQueue(["down", "other"]);
    const retry = jest.spyOn(queue, "retry");
    await changeDeadLetters(queue, "retry", { error: "down" });
    expect(retry.mock.calls).toEqual([["uuid-0", { accountSid: ACCOUNT_SID, receiver: "shop" }]]);
  });
});
