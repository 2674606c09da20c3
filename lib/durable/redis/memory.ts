import type { Redis } from "ioredis";
import type { NewEvent } from "../storage";
import { readInfoField } from "./connection";
import type { RedisSettings } from "./options";

const FULL_SHARE = 0.85;
/** Below it, a shortage ends: near 85 %, workers and new events would alternate. */
const RELAXED_SHARE = 0.8;
const READ_MS = 250;
/** Memory of a stored event, by the size of its text: of the job, its keys and its outcome. */
const estimateBytes = ({ body, outcome }: NewEvent) =>
  1_000 + body.length + (outcome?.params.length ?? 0);
/** A script, because the key selects the node of a cluster that has the queue. */
const INFO = 'return redis.call("INFO", "memory")';

/**
 * Creates the step that keeps memory of Redis free for workers: at maxmemory they cannot take events
 * out of the queue. While events are stored, it reads the memory every 250 ms, and returns those of
 * the given events that fit in until the next reading. Logs the beginning and the end of a shortage.
 *
 * @throws (by the step) Error from 85 % of maxmemory on, until Redis uses less than 80 %.
 */
export function createAdmit(redis: Redis, { prefix, name, logger }: RedisSettings) {
  let shortage: Error | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  /** Below 85 %, by the last reading. */
  let freeBytes = Number.POSITIVE_INFINITY;
  /** Of the events since the last reading began: it may not show them. */
  let addedBytes = 0;

  async function read(): Promise<void> {
    const startedAtMs = performance.now();
    const shownBytes = addedBytes;
    // Two readings at a time would both subtract the same events.
    readAtMs = Number.POSITIVE_INFINITY;
    const info = await redis.eval(INFO, 1, `${prefix}:${name}:meta`).finally(() => {
      readAtMs = startedAtMs;
    });
    const readBytes = (field: string) => Number(readInfoField(String(info), field) ?? 0);
    const [usedBytes, limitBytes] = [readBytes("used_memory"), readBytes("maxmemory")];
    freeBytes = limitBytes === 0 ? Number.POSITIVE_INFINITY : FULL_SHARE * limitBytes - usedBytes;
    addedBytes -= shownBytes;
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

  return function admit(events: readonly NewEvent[]): readonly NewEvent[] {
    // No store awaits a reading. One that fails changes nothing: a Redis that does not show its memory
    // rejects events itself when it is full.
    if (performance.now() - readAtMs >= READ_MS) read().catch(() => {});
    if (shortage !== undefined) throw shortage;
    return events.filter((event) => {
      // One event that is larger than the rest fits into the reserve.
      const isFitting = addedBytes < freeBytes;
      if (isFitting) addedBytes += estimateBytes(event);
      return isFitting;
    });
  };
}
