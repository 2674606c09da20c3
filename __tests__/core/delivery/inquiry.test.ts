import { Inquiry } from "../../../lib/core/delivery/inquiry";
import { never } from "../../support/waiting";

afterEach(() => jest.useRealTimers());

const answer = () => Promise.resolve();
const fail = () => Promise.reject(new Error("down"));

it.each<[timeoutMs: number, ask: () => Promise<void>, error: string | undefined, asked: number[]]>([
  [300_000, fail, "down", [1_000, 30_000, 297_000, 299_000]],
  [60_000, answer, undefined, [1_000, 30_000, 57_000]],
  [59_999, answer, undefined, [1_000, 56_999]],
  [25_000, never, expect.stringContaining("did not respond"), [1_000, 22_000, 24_000]],
  [500, fail, "down", [100, 300, 400]],
])("asks within a wait of %i ms: %p with the error %j", async (timeoutMs, ask, error, asked) => {
  jest.useFakeTimers();
  const startMs = Date.now();
  const times: number[] = [];
  const inquiry = new Inquiry(timeoutMs, () => {
    times.push(Date.now() - startMs);
    return ask();
  });
  await jest.advanceTimersByTimeAsync(timeoutMs);
  expect(times).toEqual(asked);
  expect((inquiry.error as Error | undefined)?.message).toEqual(error);
});

it("leaves no timer when it is stopped", async () => {
  jest.useFakeTimers();
  const ask = jest.fn(answer);
  const inquiry = new Inquiry(300_000, ask);
  await jest.advanceTimersByTimeAsync(1_000);
  inquiry.stop();
  await jest.advanceTimersByTimeAsync(300_000);
  expect(ask).toHaveBeenCalledTimes(1);
  expect(jest.getTimerCount()).toBe(0);
});
