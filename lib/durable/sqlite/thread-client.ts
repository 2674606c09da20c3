import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { settleWithin, startDeadline, type CloseOptions } from "../../receiver/close-options";
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
import { createThreadRequests } from "./thread-requests";

/** The thread that owns the file, as the app's thread sees it. */
export interface ThreadClient {
  /**
   * Runs an operation in the thread.
   *
   * @param isWanted called until the operation is sent. Once it returns false, the operation is
   *   dropped, and the promise never settles.
   * @throws Error of the file or of SQLite; while the file is not open, the reason.
   */
  request<Name extends OperationName>(
    name: Name,
    argument: Argument<Name>,
    isWanted?: () => boolean,
  ): Promise<Result<Name>>;
  /** Whether the file is open. */
  isOpen(): boolean;
  /** Closes the file and ends the thread; awaits that for 250 ms after the deadline at most. */
  close(isIdle: boolean, options: CloseOptions): Promise<void>;
}

/** What a thread reports without being asked. */
export interface ThreadListener {
  onOpen(): void;
  /** Called when the file cannot be opened or had to be closed. */
  onClosed(error: Error): void;
  onClaimed(events: readonly ClaimedEvent[]): void;
  onOutcome(key: string, params: string): void;
}

const RESTART_MS = 500;
/** The thread gets at least this time to write what it was asked before. */
const LEAVE_MS = 250;
/** Of a request whose result is the end of the thread. */
const LEAVE_ID = 0;

/** Starts the thread that owns the file. */
export function startThread(settings: ThreadSettings, listener: ThreadListener): ThreadClient {
  const requests = createThreadRequests(post);
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

  function post(message: readonly Request[]): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread.postMessage(message);
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
        requests.reject(message.ids, toError(message.failure));
        break;
      case "done":
        requests.resolve(message.results);
        if (message.claimed.length > 0) listener.onClaimed(message.claimed);
        break;
      case "outcomes":
        for (const [key, params] of message.outcomes) listener.onOutcome(key, params);
        break;
    }
  }

  /** The file is not open any more: nothing that was asked is going to be done. */
  function fall(error: Error): void {
    closedBy = error;
    requests.rejectAll(error);
    listener.onClosed(error);
  }

  return {
    request(name, argument, isWanted = () => true) {
      if (closedBy !== undefined) return Promise.reject(closedBy);
      return requests.send(name, argument, isWanted);
    },
    isOpen: () => closedBy === undefined,
    async close(isIdle, options) {
      isClosing = true;
      const left = startDeadline(options);
      if (closedBy === undefined) {
        const exited = once(thread, "exit");
        post([[LEAVE_ID, "leave", isIdle]]);
        // Handlers may have used the time; what they finished is on its way to the disk.
        await settleWithin(exited, { deadlineMs: Math.max(left().deadlineMs ?? 0, LEAVE_MS) });
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
