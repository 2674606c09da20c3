import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HANGING_FSYNC = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
static void hang(void) { while (access(getenv("HANG_FILE"), F_OK) == 0) usleep(10000); }
int fsync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
`;

/** Tests of a disk that hangs; skipped, and counted, without a C compiler or on another system. */
export const itWithHangingDisk =
  process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0 ? it : it.skip;

/** Creates the disk of a process, which does not hang yet: while it hangs, fsync does not return. */
export function createHangingDisk() {
  const folder = mkdtempSync(join(tmpdir(), "push-hanging-"));
  const source = join(folder, "hanging-fsync.c");
  const library = join(folder, "hanging-fsync.so");
  const hangFile = join(folder, "hang");
  writeFileSync(source, HANGING_FSYNC);
  execFileSync("cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  return {
    /** The environment of the process. */
    env: { LD_PRELOAD: library, HANG_FILE: hangFile },
    hang: () => writeFileSync(hangFile, ""),
    /** Lets it go on. */
    release: () => rmSync(hangFile, { force: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
