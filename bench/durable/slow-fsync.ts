import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SLOW_FSYNC = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void pause_ms(void) { usleep(atoi(getenv("FSYNC_MS")) * 1000); }
int fsync(int fd) { pause_ms(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { pause_ms(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`;

/**
 * Returns the environment of a process whose fsync takes so many milliseconds longer: 2 stands for
 * the disk of a server.
 */
export function slowFsync(fsyncMs: number): Record<string, string> {
  if (fsyncMs === 0) return {};
  const folder = mkdtempSync(join(tmpdir(), "push-fsync-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // The user of the server reads it.
  chmodSync(folder, 0o755);
  const source = join(folder, "slow-fsync.c");
  const library = join(folder, "slow-fsync.so");
  writeFileSync(source, SLOW_FSYNC);
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  return { LD_PRELOAD: library, FSYNC_MS: String(fsyncMs) };
}
