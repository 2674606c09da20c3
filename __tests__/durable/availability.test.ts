import { setTimeout as sleep } from "node:timers/promises";
import { Availability } from "../../lib/durable/availability";
import { QueueError } from "../../lib/durable/queue-error";
import type { Storage } from "../../lib/durable/storage";
import { silent } from "../support/durable";
import { createGate, never, nextTurn } from "../support/waiting";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();

jest.mock("node:timers/promises", () => ({
  ...jest.requireActual<object>("node:timers/promises"),
  setTimeout: jest.fn(),
}));

it("a write that failed is repeated after a pause of 100 ms", async () => {
  const { opened, open: endPause } = createGate();
  jest.mocked(sleep).mockReturnValue(opened);
  const storage = { title: "The store", connect: async () => ({ ended: never() }) } as object;
  const ignore = () => {};
  const availability = new Availability(storage as Storage, undefined, ignore, ignore);
  await availability.ready();
  const write = jest.fn(async () => "written");
  write.mockRejectedValueOnce(new Error("The disk is full."));
  const written = availability.writeAtLast(write);
  await nextTurn();
  expect(jest.mocked(sleep).mock.calls).toEqual([[100]]);
  expect(write).toHaveBeenCalledTimes(1);
  endPause();
  expect(await written).toBe("written");
});

it.each([
  [Object.assign(new Error("The server ends."), { code: "57P01" }), "warn", "LOST"],
  [Object.assign(new Error(""), { code: "ECONNREFUSED" }), "warn", "LOST"],
  [new Error("The file was removed."), "warn", "LOST"],
  [new QueueError("FILE_DAMAGED", "The file is damaged."), "error", "FILE_DAMAGED"],
  [new QueueError("REDIS_REJECTED", "The password is wrong."), "error", "REDIS_REJECTED"],
] as const)("%p is logged or a process warning, with a documented code", async (...row) => {
  const [error, level, code] = row;
  jest.mocked(sleep).mockReturnValue(never());
  const storage = { title: "The store", outageCode: "LOST", connect: () => Promise.reject(error) };
  const log = jest.fn();
  const opened = [{ ...silent, [level]: log }, undefined].map(
    (logger) => new Availability(storage as object as Storage, logger, jest.fn(), jest.fn()),
  );
  await nextTurn();
  const reason = expect.stringMatching(error.message || "ECONNREFUSED") as string;
  expect(log.mock.calls).toEqual([[{ code }, reason]]);
  expect(warnings.list()).toMatchObject([[reason, { code }]]);
  for (const availability of opened) availability.close();
});

it("an outage began with its first failure, however often connecting fails again", async () => {
  const pauses: (() => void)[] = [];
  jest.mocked(sleep).mockImplementation(() => new Promise((end) => pauses.push(() => end({}))));
  const connect = jest.fn(() => Promise.reject(new Error("down")));
  const storage = { title: "The store", outageCode: "DOWN", connect } as object;
  const ignore = () => {};
  const availability = new Availability(storage as Storage, silent, ignore, ignore);
  await nextTurn();
  const began = availability.outage()?.since;
  for (let attempt = 2; attempt <= 3; attempt++) {
    pauses.shift()?.();
    await nextTurn();
    expect(connect).toHaveBeenCalledTimes(attempt);
    expect(availability.outage()?.since).toBe(began);
  }
  availability.close();
});
