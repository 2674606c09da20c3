import { join } from "node:path";
import { createHandlers } from "express-push-verification";
import { eventFixture } from "express-push-verification/testing";
import { createQueue } from "../../../lib/durable/queue";
import { createRunner } from "../../../lib/durable/runner";
import { createFileStorage } from "../../../lib/durable/sqlite/file-storage";
import { resolveSqliteOptions } from "../../../lib/durable/sqlite/options";
import { createChildProcesses } from "../../support/child-processes";
import { queuedEvent, silent } from "../../support/durable";
import { createHangingDisk, itWithHangingDisk } from "../../support/hanging-disk";
import { until } from "../../support/waiting";
import { createFile, removeFiles } from "../../support/sqlite";

const script = join(__dirname, "..", "..", "support", "hanging-close-process.ts");

afterEach(removeFiles);

it("logs a run that rejects, and keeps its event for another process", async () => {
  const error = jest.fn();
  const logger = { ...silent, error };
  const settings = resolveSqliteOptions({ name: "q", file: createFile(), logger });
  const queue = createQueue(createFileStorage(settings), settings, (...args) => ({
    ...createRunner(...args),
    handle: () => Promise.reject(new RangeError("broken")),
  }));
  queue.work(createHandlers().onAny(() => {}));
  await queue.ready();
  await queue.store(queuedEvent(eventFixture("factor.created")), Number.POSITIVE_INFINITY);
  await until(() => error.mock.calls.length === 1);
  expect(error.mock.calls).toMatchObject([[{ err: { name: "RangeError" } }, expect.any(String)]]);
  expect(await queue.stats()).toMatchObject({ active: 1, deadLetters: 0 });
  await queue.close({ deadlineMs: 0 });
});

itWithHangingDisk(
  "closes within its deadline while the disk hangs",
  async () => {
    const disk = createHangingDisk();
    const processes = createChildProcesses(script, { env: { ...process.env, ...disk.env } });
    try {
      const messages: string[] = [];
      const args = [createFile(), disk.hangFile, "3000"];
      const child = await processes.start(args, (message) => messages.push(message));
      child.send("close");
      await until(() => messages.length === 2, 20_000);
      expect(Number(messages[1])).toBeGreaterThan(2_900);
      expect(Number(messages[1])).toBeLessThan(30_000);
    } finally {
      disk.release();
      processes.killAll();
      disk.remove();
    }
  },
  60_000,
);
