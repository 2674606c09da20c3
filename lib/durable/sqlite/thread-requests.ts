import { createBacklog } from "../backlog";
import type { Argument, OperationName, Request, Result } from "./protocol";

/** The requests on their way to the thread. */
export interface ThreadRequests {
  /** Sends a request as soon as the thread can take it; see `ThreadClient.request`. */
  send<Name extends OperationName>(
    name: Name,
    argument: Argument<Name>,
    isWanted: () => boolean,
  ): Promise<Result<Name>>;
  resolve(results: readonly (readonly [id: number, result: unknown])[]): void;
  reject(ids: readonly number[], error: Error): void;
  /** Rejects every request that is still wanted, also those that were not sent yet. */
  rejectAll(error: Error): void;
}

interface PendingRequest {
  request: Request;
  isWanted: () => boolean;
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Results arrive in one turn of the app's event loop: it must not be blocked for long. */
const REQUESTS_PER_MESSAGE = 128;
/** One is written while the next is on its way. The others wait here, where they can be left out. */
const MAX_MESSAGES = 2;

/** Creates the requests to a thread; `post` sends a message to it. */
export function createThreadRequests(post: (requests: readonly Request[]) => void): ThreadRequests {
  const backlog = createBacklog<PendingRequest>();
  const sent = new Map<number, PendingRequest>();
  let lastId = 0;
  let isFlushing = false;

  function scheduleFlush(): void {
    if (isFlushing || backlog.size() === 0) return;
    isFlushing = true;
    // After all callbacks of this turn: their requests share a message.
    setImmediate(flush);
  }

  function flush(): void {
    isFlushing = false;
    while (backlog.size() > 0 && sent.size <= REQUESTS_PER_MESSAGE * (MAX_MESSAGES - 1)) {
      const batch = backlog.take(REQUESTS_PER_MESSAGE);
      for (const pending of batch) sent.set(pending.request[0], pending);
      if (batch.length > 0) post(batch.map(({ request }) => request));
    }
  }

  function settle(id: number, end: (pending: PendingRequest) => void): void {
    const pending = sent.get(id);
    if (pending === undefined) return;
    sent.delete(id);
    end(pending);
  }

  return {
    send: (name, argument, isWanted) =>
      new Promise((resolve, reject) => {
        const pending = { request: [++lastId, name, argument] as const, isWanted, resolve, reject };
        // A late heartbeat would lose the running events to other processes.
        if (name === "heartbeat") backlog.addFirst(pending);
        else backlog.add(pending);
        scheduleFlush();
      }),
    resolve(results) {
      for (const [id, result] of results) settle(id, ({ resolve }) => resolve(result as never));
      scheduleFlush();
    },
    reject(ids, error) {
      for (const id of ids) settle(id, ({ reject }) => reject(error));
      scheduleFlush();
    },
    rejectAll(error) {
      const lost = [...sent.values(), ...backlog.take(backlog.size())];
      sent.clear();
      for (const { reject } of lost) reject(error);
    },
  };
}
