/*
 * A disk whose fsync takes SLOW_FSYNC_US longer, for processes that load this library first:
 *
 * cc -shared -fPIC -o /tmp/slow-fsync.so bench/durable/slow-fsync.c -ldl
 * SLOW_FSYNC_US=2000 LD_PRELOAD=/tmp/slow-fsync.so npm run node24 -- --import tsx bench/durable/engines.ts
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_disk(void) {
  const char *delay = getenv("SLOW_FSYNC_US");
  if (delay != NULL) usleep((useconds_t)atoi(delay));
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_for_disk();
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_for_disk();
  return real(fd);
}
