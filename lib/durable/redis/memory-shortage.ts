import type { Redis } from "ioredis";
import { readInfoField } from "./connection";
import type { RedisSettings } from "./options";

const FULL_SHARE = 0.85;
/** Below it, a shortage ends: workers and new events must not alternate. */
const RELAXED_SHARE = 0.8;
const READ_MS = 250;
/** The key of the script selects the node of a cluster. */
const INFO = 'return redis.call("INFO", "memory")';

/**
 * Creates the check that keeps memory free for workers, who can take no events at maxmemory. Logs the
 * beginning and the end of a shortage.
 *
 * @throws (by the check) Error from 85 % of maxmemory on, until Redis uses less than 80 %.
 */
export function createMemoryCheck(redis: Redis, { head, logger }: RedisSettings) {
  let shortage: Error | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    const info = String(await redis.eval(INFO, 1, `${head}:meta`));
    const [usedBytes = 0, limitBytes = 0] = ["used_memory", "maxmemory"].map((field) =>
      Number(readInfoField(info, field) ?? 0),
    );
    const isShort = shortage !== undefined;
    if (usedBytes < (isShort ? RELAXED_SHARE : FULL_SHARE) * limitBytes || limitBytes === 0) {
      shortage = undefined;
      if (isShort) logger?.info({}, "Redis has memory again: events are stored.");
      return;
    }
    const percent = Math.floor((usedBytes / limitBytes) * 100);
    const message = `Redis uses ${percent} % of its maxmemory (${limitBytes} bytes). Events are stored below 85 %, so that workers can drain the queue. Raise maxmemory or add workers.`;
    shortage = new Error(message);
    if (!isShort) logger?.error({ usedBytes, limitBytes }, message);
  }

  return function assertMemory(): void {
    if (performance.now() - readAtMs >= READ_MS) {
      readAtMs = performance.now();
      // A Redis that does not show its memory rejects events itself.
      read().catch(() => {});
    }
    if (shortage !== undefined) throw shortage;
  };
}
