import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { MAX_TIME_MS, type NewEvent } from "../storage";
import type { RedisSettings } from "./options";

/** The data of a job of BullMQ. */
export interface JobData {
  /** A text: BullMQ parses nothing that a sender chose. */
  body: string;
  /** As `addFailure` writes them. */
  errors: string | null;
  /** When its handlers run again. */
  dueAtMs?: number | undefined;
  /** Whether it is {@link ERASED}. */
  isErased?: boolean;
}

/** The data of a job whose event was erased: its worker completes it, as a locked job cannot be removed. */
export const ERASED = '{"isErased":true}';

/** What {@link createJobs} returns. */
export type Jobs = ReturnType<typeof createJobs>;

/** Where BullMQ 5 moves the waiting jobs of a queue that is paused; BullMQ 6 knows no such type. */
export const PAUSED = "paused" as "wait";

const UUID_DIGITS = 32;
/** How often a job was started, failed, and stalled. */
const COUNTS = ["ats", "atm", "stc"];
const MAX_ACTIVE = 1_000;
/** Returns 0 if the job was erased; does nothing if another worker has finished it. */
const UPDATE = `
  local data = redis.call("HGET", KEYS[1], "data")
  if data == '${ERASED}' then
    return 0
  end
  if data then
    redis.call("HSET", KEYS[1], "data", ARGV[1])
  end
  return 1`;

/** Returns how the identifiers of the jobs of a uuid begin. */
export const startOf = (uuidHash: string) => `${uuidHash}-`;

/** Returns the identifier of the job of an event: unique, as the content is. */
export function jobIdOf({ uuidHash, content }: NewEvent): string {
  return startOf(uuidHash) + content;
}

/** Returns whether an identifier is one of {@link jobIdOf}. */
export function isJobId(id: string): boolean {
  return /^[\da-f]{32}-[\da-f]{32}$/.test(id);
}

/** Reads the data of a job, which another program may have written. */
export function readJobData(data: unknown): JobData {
  const { body, errors, dueAtMs, isErased } = Object(data) as Record<string, unknown>;
  return {
    body: typeof body === "string" ? body : "",
    errors: typeof errors === "string" ? errors : null,
    dueAtMs: typeof dueAtMs === "number" && dueAtMs <= MAX_TIME_MS ? dueAtMs : undefined,
    isErased: isErased === true,
  };
}

/** Opens the jobs of a queue, by the documented methods of BullMQ. */
export function createJobs(redis: Redis, { prefix, name, head, dedupeTtlMs }: RedisSettings) {
  let opened: Queue<JobData> | undefined;
  const keyOf = (id: string) => `${head}:${id}`;

  /** Opens the queue of BullMQ when Redis was reached: otherwise it may be rejected for ever. */
  function queue(): Queue<JobData> {
    if (opened !== undefined) return opened;
    opened = new Queue(name, {
      connection: redis,
      prefix,
      // The user may lack the right to INFO.
      skipVersionCheck: true,
      // This package reads no events of BullMQ.
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: {
        // The worker decides: it moves dead letters out of BullMQ.
        attempts: 1_000_000,
        backoff: { type: "custom" },
        removeOnComplete: true,
        // A stack may quote an event.
        stackTraceLimit: 0,
      },
    });
    opened.on("error", () => {});
    return opened;
  }

  /** Returns undefined for a job that is gone or no JSON. */
  async function read(id: string) {
    try {
      const job = await queue().getJob(id);
      if (job === undefined) return undefined;
      const { data, timestamp: storedAtMs, processedOn: startedAtMs, attemptsStarted } = job;
      return { ...readJobData(data), storedAtMs, startedAtMs, attempts: attemptsStarted };
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  return {
    queue,
    read,
    keyOf,
    /** Replaces the data of a job; returns false if it was erased. */
    async update(id: string, data: JobData): Promise<boolean> {
      return Number(await redis.eval(UPDATE, 1, keyOf(id), JSON.stringify(data))) === 1;
    },
    /** Removes counts of other programs that are no numbers: scripts of BullMQ fail at them. */
    async repairCounts(): Promise<void> {
      const ids = await queue().getRanges(["active"], 0, MAX_ACTIVE);
      for (const id of ids) {
        const key = keyOf(id);
        const counts = await redis.hmget(key, ...COUNTS);
        const wrong = COUNTS.filter((_field, index) => !/^\d{1,9}$/.test(counts[index] ?? "0"));
        if (wrong.length > 0) await redis.hdel(key, ...wrong);
      }
    },
    /** Adds the job of an event unless its uuid is kept; returns the content that is kept. */
    async add(event: NewEvent): Promise<string> {
      const { id = "" } = await queue().add(
        "event",
        { body: event.body, errors: null },
        { jobId: jobIdOf(event), deduplication: { id: event.key, ttl: dedupeTtlMs } },
      );
      return id.slice(UUID_DIGITS + 1);
    },
    /** Adds a job whose uuid is kept, unless there is one of this id. */
    addAgain: (jobId: string, data: JobData) => queue().add("event", data, { jobId }),
    /** Reads the job at a position: at 0 is the oldest, or the one that is due first. */
    async at(type: "wait" | "delayed", position: number) {
      const [id] = await queue().getRanges([type], position, position, true);
      return id === undefined ? undefined : read(id);
    },
    close: async () => opened?.close().catch(() => {}),
  };
}
