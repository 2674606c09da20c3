import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ClaimingPool, type WorkerContext } from "../../lib/durable/worker";
import type { Claims, Storage } from "../../lib/durable/storage";

afterEach(() => jest.useRealTimers());

it("purges every 5 s until it is stopped", async () => {
  jest.useFakeTimers();
  const startMs = Date.now();
  const times: number[] = [];
  const replies = [true, true, new Error("down"), false];
  const storage = {
    async purge() {
      times.push(Date.now() - startMs);
      const reply = replies.shift() ?? false;
      if (reply instanceof Error) throw reply;
      return reply;
    },
    beat: jest.fn(async () => {}),
  };
  const availability = { assertOpen() {}, watchWrite: (write: unknown) => write };
  const context = { availability, lookForEvents() {} } as unknown as WorkerContext;
  const polls = jest.fn();
  subscribe("tracing:express-push-verification:poll:start", polls);
  const pool = new ClaimingPool(storage as unknown as Claims & Pick<Storage, "erase">, context);
  await jest.advanceTimersByTimeAsync(16_000);
  expect(storage.beat).toHaveBeenCalledTimes(16);
  expect(polls).toHaveBeenCalledTimes(16 + 5);
  expect(times).toEqual([5_000, 5_010, 5_020, 10_020, 15_020]);
  pool.stop();
  unsubscribe("tracing:express-push-verification:poll:start", polls);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(times).toHaveLength(5);
  expect(jest.getTimerCount()).toBe(0);
});
