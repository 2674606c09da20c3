import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { StoredEvent } from "../stored-event";
import type { RedisSettings } from "./options";

/** The queue of BullMQ, which is replaced when its start fails. */
export interface BullQueue {
  /** @throws what the start of the current queue failed with. */
  ready(): Promise<void>;
  /** Returns the current queue. */
  current(): Queue<StoredEvent>;
  close(): void;
}

const PAUSE_MS = 100;

/**
 * Opens the queue of BullMQ. A Queue asks Redis for INFO once, and every call of a Queue whose INFO
 * failed is rejected for ever: another is opened then, until one starts.
 */
export function openBullQueue(redis: Redis, { name, prefix }: RedisSettings): BullQueue {
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let queue = open();

  function open(): Queue<StoredEvent> {
    const opened = new Queue<StoredEvent>(name, {
      connection: redis,
      prefix,
      // This package reads no events of BullMQ.
      streams: { events: { maxLen: 100 } },
    });
    // The connection reports its outages itself.
    opened.on("error", () => {});
    opened.waitUntilReady().catch(() => {
      if (isClosed) return;
      timer = setTimeout(() => {
        queue = open();
        void opened.close();
      }, PAUSE_MS);
    });
    return opened;
  }

  return {
    ready: () => queue.waitUntilReady(),
    current: () => queue,
    close() {
      isClosed = true;
      clearTimeout(timer);
      // Removes its listeners; the connection is not its own.
      void queue.close().catch(() => {});
    },
  };
}
