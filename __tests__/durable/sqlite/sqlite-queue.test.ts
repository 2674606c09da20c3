import { once } from "node:events";
import { join } from "node:path";
import { createHandlers } from "express-push-verification";
import { createQueue } from "../../../lib/durable/queue";
import { createRunner } from "../../../lib/durable/runner";
import { createFileStorage } from "../../../lib/durable/sqlite/file-storage";
import { resolveSqliteOptions } from "../../../lib/durable/sqlite/options";
import { createChildProcesses } from "../../support/child-processes";
import { silent, storeFactor } from "../../support/durable";
import { createHangingDisk, itWithHangingDisk } from "../../support/hanging-disk";
import { until } from "../../support/waiting";
import { createFile, removeFiles } from "../../support/sqlite";

const script = join(__dirname, "..", "..", "support", "queue-process.ts");

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
  await storeFactor(queue, "a");
  await until(() => error.mock.calls.length === 1);
  expect(error.mock.calls).toMatchObject([[{ err: { name: "RangeError" } }, expect.any(String)]]);
  expect(await queue.stats()).toMatchObject({ active: 1, deadLetters: 0 });
  await queue.close({ deadlineMs: 0 });
});

itWithHangingDisk("closes within its deadline while the disk hangs", async () => {
  const disk = createHangingDisk();
  const processes = createChildProcesses(script, { env: { ...process.env, ...disk.env } });
  try {
    const place = JSON.stringify({ name: "q", file: createFile() });
    let stored = 0;
    const child = await processes.start(["sqlite", place, "", "1"], () => void stored++);
    await until(() => stored > 10);
    disk.hang();
    // No store is reported any more: the thread is in fsync.
    let before = 0;
    await until(async () => {
      [before, stored] = [stored, 0];
      return before === 0;
    });
    const startMs = performance.now();
    child.send("close");
    await once(child, "disconnect");
    // The deadline is 200 ms.
    expect(performance.now() - startMs).toBeGreaterThan(190);
    expect(performance.now() - startMs).toBeLessThan(20_000);
  } finally {
    disk.release();
    processes.killAll();
    disk.remove();
  }
});
