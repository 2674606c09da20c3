import { connect, retryWhileLocked } from "../../../lib/durable/sqlite/node-sqlite";
import { createFile, removeFiles } from "../../support/sqlite";

afterEach(removeFiles);

it("repeats a step until the lock is released", () => {
  const file = createFile();
  const [owner, other] = [connect(file), connect(file)];
  owner.exec("BEGIN IMMEDIATE");
  let attempts = 0;
  retryWhileLocked(() => {
    if (++attempts === 5) owner.exec("COMMIT");
    other.exec("BEGIN IMMEDIATE");
  });
  expect(attempts).toBe(5);
  owner.close();
  other.close();
});

it("throws other errors of the step at once", () => {
  const step = jest.fn(() => {
    throw new Error("no lock");
  });
  expect(() => retryWhileLocked(step)).toThrow("no lock");
  expect(step).toHaveBeenCalledTimes(1);
});
