import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { settleWithin, startDeadline, type CloseOptions } from "../../receiver/close-options";
import { createBacklog } from "../backlog";
import type {
  Argument,
  ClaimedEvent,
  OperationName,
  Request,
  Result,
  ThreadFailure,
  ThreadMessage,
  ThreadSettings,
} from "./protocol";
import { QueueError } from "../queue-error";

/** The thread that owns the file, as the app's thread sees it. */
export interface ThreadClient {
  /**
   * Runs an operation in the thread.
   *
   * @param isWanted asked before it is sent, and while it waits for that. An operation that is not
   *   wanted any more settles never.
   * @throws Error of the file or of SQLite; while the file is not open, the reason.
   */
  request<Name extends OperationName>(
    name: Name,
    argument: Argument<Name>,
    isWanted?: () => boolean,
  ): Promise<Result<Name>>;
  /** Whether the file is open. */
  isOpen(): boolean;
  /** Closes the file and ends the thread; awaits neither for longer than the deadline. */
  close(isIdle: boolean, options: CloseOptions): Promise<void>;
}

/** What a thread reports without being asked. */
export interface ThreadListener {
  onOpen(): void;
  /** Called when the file cannot be opened or had to be closed; it is opened again. */
  onClosed(error: Error): void;
  onClaimed(events: readonly ClaimedEvent[]): void;
  onOutcome(key: string, params: string): void;
}

interface Pending {
  request: Request;
  isWanted: () => boolean;
  resolve: (result: never) => void;
  reject: (error: Error) => void;
}

/** Results arrive in one turn of the app's event loop: it must not be blocked for long. */
const REQUESTS_PER_MESSAGE = 128;
/** One is written while the next is on its way. The others wait here, where they can be left out. */
const MAX_MESSAGES = 2;
const RESTART_MS = 500;

/** Starts the thread that owns the file. */
export function startThread(settings: ThreadSettings, listener: ThreadListener): ThreadClient {
  const backlog = createBacklog<Pending>();
  const sent = new Map<number, Pending>();
  let lastId = 0;
  let isFlushing = false;
  let isClosing = false;
  let closedBy: Error | undefined = new Error("The file is not open yet.");
  let thread = start();

  function start(): Worker {
    const started = new Worker(require.resolve("./thread"), { workerData: settings });
    started.on("message", receive);
    // An error of ours in the thread; its exit follows.
    started.on("error", (error) => fall(error));
    started.on("exit", () => {
      fall(closedBy ?? new Error("The thread of the file ended."));
      if (!isClosing) setTimeout(restart, RESTART_MS).unref();
    });
    return started;
  }

  function restart(): void {
    if (!isClosing) thread = start();
  }

  function post(requests: readonly Request[]): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(requests);
  }

  function receive(message: ThreadMessage): void {
    switch (message.type) {
      case "open":
        closedBy = undefined;
        listener.onOpen();
        break;
      case "closed":
        fall(toError(message.failure));
        break;
      case "failed":
        for (const id of message.ids) settle(id, ({ reject }) => reject(toError(message.failure)));
        scheduleFlush();
        break;
      case "done":
        for (const [id, result] of message.results)
          settle(id, ({ resolve }) => resolve(result as never));
        if (message.claimed.length > 0) listener.onClaimed(message.claimed);
        scheduleFlush();
        break;
      case "outcomes":
        for (const [key, params] of message.outcomes) listener.onOutcome(key, params);
        break;
    }
  }

  /** The file is not open any more: nothing that was asked is going to be done. */
  function fall(error: Error): void {
    closedBy = error;
    const lost = [...sent.values(), ...backlog.take(backlog.size())];
    sent.clear();
    for (const { reject } of lost) reject(error);
    listener.onClosed(error);
  }

  function settle(id: number, end: (pending: Pending) => void): void {
    const pending = sent.get(id);
    if (pending === undefined) return;
    sent.delete(id);
    end(pending);
  }

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

  return {
    request(name, argument, isWanted = () => true) {
      if (closedBy !== undefined) return Promise.reject(closedBy);
      return new Promise((resolve, reject) => {
        backlog.add({ request: [++lastId, name, argument], isWanted, resolve, reject });
        scheduleFlush();
      });
    },
    isOpen: () => closedBy === undefined,
    async close(isIdle, options) {
      isClosing = true;
      const left = startDeadline(options);
      if (closedBy === undefined) {
        const exited = once(thread, "exit");
        post([[++lastId, "leave", isIdle]]);
        await settleWithin(exited, left());
      }
      // A thread whose disk hangs ends when fsync returns.
      await settleWithin(thread.terminate(), left());
    },
  };
}

function toError({ code, message, fileCode }: ThreadFailure): Error {
  if (fileCode !== undefined) return new QueueError(fileCode, message);
  return Object.assign(new Error(message), code !== undefined && { code });
}
