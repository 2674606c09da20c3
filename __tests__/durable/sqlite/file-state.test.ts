import { QueueError } from "express-push-verification/durable";
import { createFileState } from "../../../lib/durable/sqlite/file-state";
import { silent } from "../../support/durable";

const IN_USE = new QueueError("FILE_IN_USE", "another process has it");
/** As long as an attempt to open the file waits for the lock, and the pause until the next. */
const ATTEMPT_MS = 5_250;

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it("rejects ready 12 s after the first attempt began, however long each attempt takes", async () => {
  const state = createFileState(silent);
  const rejected = jest.fn();
  state.ready().catch(rejected);
  for (let attempt = 0; attempt < 2; attempt++) {
    await jest.advanceTimersByTimeAsync(ATTEMPT_MS);
    state.fail(IN_USE);
  }
  await jest.advanceTimersByTimeAsync(11_900 - 2 * ATTEMPT_MS);
  expect(rejected).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(200);
  expect(rejected).toHaveBeenCalledWith(IN_USE);
  state.close();
});

it("keeps ready pending while the file is opened for another reason", async () => {
  const state = createFileState(silent);
  const rejected = jest.fn();
  const resolved = jest.fn();
  state.ready().then(resolved, rejected);
  state.fail(IN_USE);
  await jest.advanceTimersByTimeAsync(11_000);
  state.fail(new Error("the disk failed"));
  await jest.advanceTimersByTimeAsync(5_000);
  state.fail(IN_USE);
  await jest.advanceTimersByTimeAsync(5_000);
  expect(rejected).not.toHaveBeenCalled();
  state.open();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(resolved).toHaveBeenCalled();
  expect(rejected).not.toHaveBeenCalled();
});

it("rejects ready after damage that was found while the file was open", async () => {
  const state = createFileState(silent);
  state.open();
  await state.ready();
  const damaged = new QueueError("FILE_DAMAGED", "a page is malformed");
  state.fail(damaged);
  await expect(state.ready()).rejects.toBe(damaged);
});
