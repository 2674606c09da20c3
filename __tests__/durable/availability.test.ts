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

const final = (["FILE_FOREIGN", "FILE_DAMAGED", "FILE_NEWER", "FILE_OLDER"] as const).map(
  (code) => [new QueueError(code, "It is not this queue."), "error", code] as const,
);

// The pause before the next attempt; none where only a restart opens the store.
it.each([
  [Object.assign(new Error("The server ends."), { code: "57P01" }), "warn", "LOST", 25],
  [Object.assign(new Error(""), { code: "ECONNREFUSED" }), "warn", "LOST", 25],
  [new Error("The file was removed."), "warn", "LOST", 25],
  ...final,
  [new QueueError("REDIS_REJECTED", "The password is wrong."), "error", "REDIS_REJECTED", 2_000],
] as const)("%p is reported with a documented code", async (...row) => {
  const [error, level, code, pauseMs] = row;
  jest.mocked(sleep).mockClear().mockReturnValue(never());
  const storage = { title: "The store", outageCode: "LOST", connect: () => Promise.reject(error) };
  const log = jest.fn();
  const opened = [{ ...silent, [level]: log }, undefined].map(
    (logger) => new Availability(storage as object as Storage, logger, jest.fn(), jest.fn()),
  );
  await nextTurn();
  const reason = expect.stringMatching(error.message || "ECONNREFUSED") as string;
  expect(log.mock.calls).toEqual([[{ code }, reason]]);
  expect(warnings.list()).toMatchObject([[reason, { code }]]);
  const pauses = pauseMs === undefined ? [] : [pauseMs, pauseMs];
  expect(jest.mocked(sleep).mock.calls.map(([ms]) => ms)).toEqual(pauses);
  for (const availability of opened) availability.close();
});

it("an outage began with its first failure, however often connecting fails again", async () => {
  const pauses: (() => void)[] = [];
  jest.mocked(sleep).mockImplementation(() => new Promise((end) => pauses.push(() => end({}))));
  const connect = jest.fn(() => Promise.reject(new Error("down")));
  const storage = { title: "The store", outageCode: "DOWN", connect } as object;
  const ignore = () => {};
  const error = jest.fn();
  const logger = { ...silent, error };
  const availability = new Availability(storage as Storage, logger, ignore, ignore);
  await nextTurn();
  const began = availability.outage()?.since;
  jest.mocked(sleep).mockClear();
  for (let attempt = 2; attempt <= 6; attempt++) {
    pauses.shift()?.();
    await nextTurn();
    expect(connect).toHaveBeenCalledTimes(attempt);
    expect(availability.outage()?.since).toBe(began);
  }
  const pausesMs = jest.mocked(sleep).mock.calls.map(([ms]) => ms);
  expect(pausesMs).toEqual([50, 100, 200, 250, 250]);
  for (const words of ["one", "one", "two"]) {
    connect.mockRejectedValueOnce(new QueueError("REDIS_REJECTED", words));
    pauses.shift()?.();
    await nextTurn();
  }
  expect(error.mock.calls.map(([, words]) => words)).toEqual(["one", "two"]);
  const lost = { ended: Promise.resolve(new Error("lost")) };
  connect.mockReturnValueOnce(Promise.resolve(lost) as never);
  pauses.shift()?.();
  await nextTurn();
  availability.close();
  const [pauseMs, , options] = jest.mocked(sleep).mock.lastCall ?? [];
  expect([pauseMs, options?.signal?.aborted]).toEqual([25, true]);
});

it("a full disk is over after a new row or 2 s without a failed write", async () => {
  const { opened: lost, open: lose } = createGate();
  const connect = async () => ({ ended: lost.then(() => new Error("lost")) });
  const storage = { title: "The store", outageCode: "DOWN", connect } as object;
  const [warn, info, ignore] = [jest.fn(), jest.fn(), () => {}];
  const logger = { ...silent, warn, info };
  const availability = new Availability(storage as Storage, logger, ignore, ignore);
  await availability.ready();
  let nowMs = 0;
  const clock = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  const write = (addsRow: boolean) => availability.watchWrite(Promise.resolve(), addsRow);
  const fail = () =>
    expect(availability.watchWrite(Promise.reject(new Error("full")), true)).rejects.toThrow();
  const since = () => availability.outage()?.since;
  for (const [passedMs, addsRow] of [
    [0, true],
    [2_000, false],
  ] as const) {
    await fail();
    const began = since();
    expect(began).toBeDefined();
    await fail();
    nowMs += 1_999;
    await write(false);
    expect(since()).toBe(began);
    nowMs += passedMs;
    await write(addsRow);
    expect(since()).toBeUndefined();
  }
  expect(warn).toHaveBeenCalledTimes(2);
  expect(info).toHaveBeenCalledTimes(2);
  const closed = new Availability(storage as Storage, logger, ignore, ignore);
  await closed.ready();
  closed.close();
  await expect(closed.watchWrite(Promise.reject(new Error("late")))).rejects.toThrow();
  expect(warn).toHaveBeenCalledTimes(2);
  await fail();
  jest.mocked(sleep).mockReturnValue(never());
  lose();
  await nextTurn();
  await write(true);
  expect(since()).toBeDefined();
  availability.close();
  clock.mockRestore();
});
