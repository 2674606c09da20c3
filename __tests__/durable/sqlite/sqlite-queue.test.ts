import { join } from "node:path";
import { createChildProcesses } from "../../support/child-processes";
import { createHangingDisk, itWithHangingDisk } from "../../support/hanging-disk";
import { until } from "../../support/waiting";
import { createFile, removeFiles } from "../../support/sqlite";

const script = join(__dirname, "..", "..", "support", "hanging-close-process.ts");

afterEach(removeFiles);

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
