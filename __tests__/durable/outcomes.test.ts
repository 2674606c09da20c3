import { SharedOutcomes } from "../../lib/durable/outcomes";
import type { QueueSettings } from "../../lib/durable/queue-options";
import type { Storage } from "../../lib/durable/storage";
import { createGate, nextTurn } from "../support/waiting";

it("asks a store that stalls for each awaited outcome once more at most, however often it is told", async () => {
  const reads: (readonly string[])[] = [];
  const gate = createGate();
  const storage: Pick<Storage, "outcomes"> = {
    async outcomes(keys) {
      reads.push(keys);
      await gate.opened;
      return [];
    },
  };
  const settings = { name: "q", maxWaiting: 100 };
  const outcomes = new SharedOutcomes(storage as Storage, settings as QueueSettings);
  const waits = Array.from({ length: 100 }, (_, index) =>
    outcomes.wait({ authenticatedAccount: "", challengeSid: String(index), timeoutMs: 60_000 }),
  );
  await nextTurn();
  for (let times = 0; times < 50; times++) outcomes.recheck();
  gate.open();
  for (let times = 0; times < 5; times++) await nextTurn();
  expect(reads.flat()).toHaveLength(200);
  outcomes.close();
  expect(await Promise.allSettled(waits)).toHaveLength(100);
});
