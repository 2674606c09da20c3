import type { Redis } from "ioredis";
import type { DurableSettings } from "./options";
import { parseServerInfo } from "./server-info";

/** Keeps memory of Redis free for workers: at maxmemory they cannot take events out of the queue. */
export interface MemoryGuard {
  /** @throws Error when Redis uses 85 % of its maxmemory or more. */
  assertSpace(): void;
}

const FULL_SHARE = 0.85;
/** How old a reading may be, in milliseconds; less in a shortage, so that stores resume soon. */
const MAX_AGE_MS = 250;
const MAX_AGE_IN_SHORTAGE_MS = 50;
/**
 * One command instead of a pipeline: when ioredis rejects the first command of a pipeline in a
 * cluster, because its node is not connected, it never sends the second one and gives it the reply to
 * a later command. Every later reply of that connection then belongs to another command.
 */
const INFO = 'return redis.call("INFO", "memory")';

/**
 * Creates a guard that reads the memory of Redis while events are stored, at most four times a
 * second, or 20 times in a shortage. The beginning and the end of a shortage are logged.
 */
export function createMemoryGuard(
  redis: Redis,
  { prefix, name, logger }: DurableSettings,
): MemoryGuard {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let shortage: string | undefined;

  async function read(): Promise<void> {
    readAtMs = performance.now();
    // In a cluster, the key selects the node that has the queue.
    const text = redis.isCluster
      ? await redis.eval(INFO, 1, `${prefix}:${name}:meta`)
      : await redis.info("memory");
    const { usedBytes, limitBytes } = parseServerInfo(String(text));
    const used = limitBytes > 0 ? usedBytes / limitBytes : 0;
    if (used < FULL_SHARE) {
      if (shortage !== undefined) logger?.info({}, "Redis has memory again: events are stored.");
      shortage = undefined;
      return;
    }
    const percent = `${Math.floor(used * 100)} % of its maxmemory (${limitBytes} bytes)`;
    const before = shortage;
    shortage = `Redis uses ${percent}. Events are stored below 85 %, so that workers can drain the queue. Raise maxmemory or add workers.`;
    if (before === undefined) logger?.error({ usedBytes, limitBytes }, shortage);
  }

  return {
    assertSpace() {
      const maxAgeMs = shortage === undefined ? MAX_AGE_MS : MAX_AGE_IN_SHORTAGE_MS;
      if (performance.now() - readAtMs >= maxAgeMs) {
        // The command that stores reports an outage. A Redis that does not show its memory has no
        // guard: it rejects events when it is full.
        read().catch(() => {});
      }
      if (shortage !== undefined) throw new Error(shortage);
    },
  };
}
