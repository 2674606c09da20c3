import { setImmediate as afterCommands } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Pair } from "../../form/parameters";
import type { RedisSettings } from "./options";
import { findRedisRejection } from "./redis-reply";
import { parseServerInfo, type ServerInfo } from "./server-info";

/** Keeps memory of Redis free for workers: at maxmemory they cannot take events out of the queue. */
export interface MemoryGuard {
  /**
   * Admits an event of up to `bytes` of memory, see {@link estimateBytes}. Returns a promise only
   * where the event waits for the next reading of the memory.
   *
   * @throws Error when Redis uses 85 % of its maxmemory with this event; when the reading fails.
   */
  admit(bytes: number): Promise<void> | undefined;
}

const FULL_SHARE = 0.85;
/** Below it, the end of a shortage is logged: near 85 %, workers and new events alternate. */
const RELAXED_SHARE = 0.8;
/** The most that is admitted between two readings, as a share of maxmemory and of the free memory. */
const STEP_SHARE = 0.01;
const STEP_SHARE_OF_FREE = 0.1;
/** How old a reading may be, in milliseconds; less in a shortage, so that stores resume soon. */
const MAX_AGE_MS = 250;
const MAX_AGE_IN_SHORTAGE_MS = 50;
/** Workers that take large events may end a shortage several times a second. */
const REPORT_PAUSE_MS = 10_000;
const BYTES_PER_EVENT = 2_000;
const BYTES_PER_CHARACTER = 3;
/**
 * One command instead of a pipeline: when ioredis rejects the first command of a pipeline in a
 * cluster, because its node is not connected, it never sends the second one and gives it the reply to
 * a later command. Every later reply of that connection then belongs to another command.
 */
const INFO = 'return redis.call("INFO", "memory")';

/**
 * Creates a guard that reads the memory of Redis while events are stored: at most four times a second,
 * 20 times in a shortage, and each time that it has admitted 1 % of maxmemory, less near 85 %. Events
 * beyond that wait for the reading; a reading that is too old admits one event.
 *
 * Processes that store in the same Redis do not know of each other: after its reading, each may admit
 * 1 % more than what is free below 85 %, at most. So up to ten processes leave 5 % for workers, however
 * much they store at a time; more are safe while not all of them admit 1 % within the same 250 ms.
 *
 * The beginning and the end of a shortage are logged, at most every 10 s.
 */
export function createMemoryGuard(
  redis: Redis,
  { prefix, name, logger }: RedisSettings,
): MemoryGuard {
  let memory: MemoryReading | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let isReading = false;
  /** What `memory` does not show yet. */
  let admittedBytes = 0;
  let isShort = false;
  let isReported = false;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  const waiting: WaitingEvent[] = [];

  async function read(): Promise<void> {
    isReading = true;
    try {
      // The commands of the events that were admitted are sent first: the reading shows them.
      await afterCommands();
      const shownBytes = admittedBytes;
      memory = await readMemory();
      readAtMs = performance.now();
      admittedBytes -= shownBytes;
      const { usedBytes, limitBytes } = memory;
      if (limitBytes === 0 || usedBytes < FULL_SHARE * limitBytes) isShort = false;
      if (limitBytes === 0 || usedBytes < RELAXED_SHARE * limitBytes) reportEnd();
    } catch (error) {
      for (const event of waiting.splice(0)) event.reject(error);
    } finally {
      isReading = false;
    }
    admitWaiting();
  }

  async function readMemory(): Promise<MemoryReading> {
    try {
      // In a cluster, the key selects the node that has the queue.
      const text = redis.isCluster
        ? await redis.eval(INFO, 1, `${prefix}:${name}:meta`)
        : await redis.info("memory");
      return parseServerInfo(String(text));
    } catch (error) {
      if (findRedisRejection(error) === undefined) throw error;
      // A Redis that does not show its memory has no guard: it rejects events when it is full.
      return { usedBytes: 0, limitBytes: 0 };
    }
  }

  function admitWaiting(): void {
    for (let event = waiting[0]; event !== undefined; event = waiting[0]) {
      try {
        if (!isAdmitted(event.bytes)) return;
        event.resolve();
      } catch (error) {
        event.reject(error);
      }
      waiting.shift();
    }
  }

  /** Reads the memory where needed. Returns false for an event that waits for the reading. */
  function isAdmitted(bytes: number): boolean {
    const maxAgeMs = isShort ? MAX_AGE_IN_SHORTAGE_MS : MAX_AGE_MS;
    const isOld = performance.now() - readAtMs >= maxAgeMs;
    if (isOld) startReading();
    if (memory === undefined) return false;
    const { usedBytes, limitBytes } = memory;
    if (limitBytes === 0) return true;
    const freeBytes = FULL_SHARE * limitBytes - usedBytes;
    if (bytes >= freeBytes) throw createShortage(memory, bytes);
    const stepBytes = isOld ? 0 : Math.min(STEP_SHARE * limitBytes, STEP_SHARE_OF_FREE * freeBytes);
    // Each reading admits one event that is larger.
    const fits = admittedBytes === 0 || admittedBytes + bytes <= stepBytes;
    if (fits) admittedBytes += bytes;
    // From half the step on, so that the next events need not wait.
    if (!fits || admittedBytes > stepBytes / 2) startReading();
    return fits;
  }

  function startReading(): void {
    if (!isReading) void read();
  }

  function createShortage({ usedBytes, limitBytes }: MemoryReading, moreBytes: number): Error {
    const percent = Math.floor(((usedBytes + moreBytes) / limitBytes) * 100);
    const text = `Redis uses ${percent} % of its maxmemory (${limitBytes} bytes), with this event. Events are stored below 85 %, so that workers can drain the queue. Raise maxmemory or add workers.`;
    isShort = true;
    if (!isReported && performance.now() - reportedAtMs >= REPORT_PAUSE_MS) {
      isReported = true;
      reportedAtMs = performance.now();
      logger?.error({ usedBytes, limitBytes }, text);
    }
    return new Error(text);
  }

  function reportEnd(): void {
    if (isReported) logger?.info({}, "Redis has memory again: events are stored.");
    isReported = false;
  }

  return {
    admit(bytes) {
      // In the order of their arrival.
      if (waiting.length === 0 && isAdmitted(bytes)) return undefined;
      return new Promise((resolve, reject) => void waiting.push({ bytes, resolve, reject }));
    },
  };
}

/**
 * Estimates the memory that Redis needs for an event with these parameters and for its outcome, in
 * bytes: two to three times what it is, so that the guard reads early.
 */
export function estimateBytes(params: readonly Pair[]): number {
  let length = 0;
  for (const [name, value] of params) length += name.length + value.length;
  return BYTES_PER_EVENT + BYTES_PER_CHARACTER * length;
}

type MemoryReading = Pick<ServerInfo, "usedBytes" | "limitBytes">;

interface WaitingEvent {
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}
