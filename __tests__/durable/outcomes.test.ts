import { createSharedOutcomes } from "../../lib/durable/outcomes";
import type { QueueSettings } from "../../lib/durable/queue-options";
import type { Storage } from "../../lib/durable/storage";

const turn = () => new Promise(setImmediate);

it("asks a store that stalls for each awaited outcome once more at most, however often it is told", async () => {
  const reads: (readonly string[])[] = [];
  let goOn = () => {};
  const stalled = new Promise<void>((resolve) => (goOn = resolve));
  const storage: Pick<Storage, "outcomes"> = {
    async outcomes(keys) {
      reads.push(keys);
      await stalled;
      return [];
    },
  };
  const settings = { name: "q", maxWaiting: 100 };
  const outcomes = createSharedOutcomes(storage as Storage, settings as QueueSettings);
  const waits = Array.from({ length: 100 }, (_, index) =>
    outcomes.wait({ account: "", challengeSid: String(index), timeoutMs: 60_000 }),
  );
  await turn();
  for (let times = 0; times < 50; times++) outcomes.recheck();
  goOn();
  for (let times = 0; times < 5; times++) await turn();
  expect(reads.flat()).toHaveLength(200);
  outcomes.close();
  expect(await Promise.allSettled(waits)).toHaveLength(100);
});
