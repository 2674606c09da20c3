import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needs } from "./needs";

/** Mounts a disk in memory for the tests of a file: `itOnDisk` skips them without the right. */
export function mountSmallDisk(options: string) {
  const folder = mkdtempSync(join(tmpdir(), "push-full-"));
  const filler = join(folder, "filler");
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]);
  const isMounted = mounted.status === 0;
  afterAll(() => {
    if (isMounted) execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    itOnDisk: needs(isMounted, "the right to mount a disk in memory").it,
    /** Fills what is free; a database may be faster with the last bytes. */
    fill(): void {
      const { bavail, bsize } = statfsSync(folder);
      try {
        appendFileSync(filler, Buffer.alloc(bavail * bsize));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    free: () => rmSync(filler),
  };
}
