import { setTimeout as sleep } from "node:timers/promises";

/** Turn of one delivery in the order of its webhook. */
export type Turn = ReturnType<ReturnType<typeof createDeliveryOrder>["add"]>;

interface Entry {
  webhookSid: string;
  number: number;
  /** Aborted to end the wait for a later delivery; undefined while the delivery does not wait. */
  wait: AbortController | undefined;
}

/**
 * Creates the order of an emulator's deliveries. Requests to a webhook are sent in the order of
 * their events; a request does not wait for the response to an earlier one.
 */
export function createDeliveryOrder() {
  /** Resolves when the last request to a webhook was sent. */
  const lastSent = new Map<string, Promise<void>>();
  const entries = new Set<Entry>();
  let count = 0;
  let stopCount = 0;

  function hasLater({ webhookSid, number }: Entry): boolean {
    return [...entries].some(
      (entry) =>
        entry.webhookSid === webhookSid && entry.number > number && entry.wait === undefined,
    );
  }

  /** Adds a delivery to the end of the order of a webhook. */
  function add(webhookSid: string) {
    const entry: Entry = { webhookSid, number: count++, wait: undefined };
    entries.add(entry);
    const ready = lastSent.get(webhookSid) ?? Promise.resolve();
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const sent = ready.then(() => ended);
    lastSent.set(webhookSid, sent);
    void sent.then(() => lastSent.get(webhookSid) === sent && lastSent.delete(webhookSid));

    return {
      /** Resolves when every earlier request to the webhook was sent, or gave up its turn. */
      ready,
      /** Ends the turn: the next request may be sent. */
      end,
      /** Marks the delivery as finished: the earlier deliveries that wait for it continue. */
      finish(): void {
        end();
        entries.delete(entry);
        for (const other of entries) {
          if (other.webhookSid === webhookSid && other.number < entry.number) other.wait?.abort();
        }
      },
      /**
       * Waits until a later delivery to the webhook is finished, at most `timeoutMs`. Does not wait
       * during `stopWaiting` when there is no later delivery.
       */
      async waitForLater(timeoutMs: number, signal: AbortSignal): Promise<void> {
        if (stopCount > 0 && !hasLater(entry)) return;
        entry.wait = new AbortController();
        const ends = AbortSignal.any([entry.wait.signal, signal]);
        await sleep(timeoutMs, undefined, { signal: ends }).catch(() => "ended");
        entry.wait = undefined;
      },
    };
  }

  /** Ends each `waitForLater` without a later delivery, until the returned function is called. */
  function stopWaiting(): () => void {
    stopCount++;
    for (const entry of entries) {
      if (entry.wait !== undefined && !hasLater(entry)) entry.wait.abort();
    }
    return () => void stopCount--;
  }

  return { add, stopWaiting };
}
