import { setTimeout as sleep } from "node:timers/promises";
import { Availability } from "../../lib/durable/availability";
import type { Storage } from "../../lib/durable/storage";
import { createGate, never, nextTurn } from "../support/waiting";

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
