import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { settleWithin } from "../../kit/closing";
import { QueueError, type QueueErrorCode } from "../queue-error";
import type { Claims, Hint, Storage } from "../storage";
import { findPlaceAgain } from "./file-place";
import { METHODS, type MethodName } from "./operations";
import type { SqliteSettings } from "./options";
import { startThread } from "./start-thread";
import type { FileRequest, ThreadFailure, ThreadMessage, ThreadSettings } from "./thread";

/** How long `close` waits for earlier requests. */
const CLOSE_MS = 250;
/** A thread whose disk hangs ends when fsync returns. */
const TERMINATE_MS = 1_000;

/** Creates the storage of a queue in a file. Each connection is a thread that owns the file. */
export function createFileStorage(settings: SqliteSettings): Storage & Claims {
  const { file, name, dedupeTtlMs, outcomeTtlMs } = settings;
  const workerData: ThreadSettings = { file, name, dedupeTtlMs, outcomeTtlMs };
  /** The thread replies in the order of the requests. */
  const pending: { resolve: (value: never) => void; reject: (error: Error) => void }[] = [];
  let thread: Worker | undefined;

  function send(request: FileRequest): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    thread?.postMessage(request);
  }

  const createMethod =
    (method: MethodName) =>
    (...args: readonly unknown[]) =>
      new Promise<never>((resolve, reject) => {
        if (thread === undefined) return reject(new Error("The file is not open."));
        // A request that cannot be sent must not be pending.
        send([method, args]);
        pending.push({ resolve, reject });
      });

  function settle({ value, failure }: Extract<ThreadMessage, { type: "reply" }>): void {
    const request = pending.shift();
    if (failure === undefined) request?.resolve(value as never);
    else request?.reject(toError(failure));
  }

  const methods: object = Object.fromEntries(
    (Object.keys(METHODS) as MethodName[]).map((method) => [method, createMethod(method)]),
  );

  async function connect(onHint: (hint: Hint) => void): Promise<{ ended: Promise<Error> }> {
    const started = startThread({ ...workerData, file: findPlaceAgain(file) });
    thread = started;
    let failure: Error | undefined;

    const ended = new Promise<Error>((resolve) => {
      started.once("exit", () => {
        if (thread === started) thread = undefined;
        const error = failure ?? new Error("The thread of the file ended.");
        for (const { reject } of pending.splice(0)) reject(error);
        resolve(error);
      });
    });
    // An error of ours in the thread; its exit follows.
    started.on("error", (error) => (failure = error));
    return new Promise((resolve, reject) => {
      void ended.then(reject);
      started.on("message", (message: ThreadMessage) => {
        if (message.type === "open") resolve({ ended });
        else if (message.type === "hint") onHint(message.hint);
        else if (message.type === "end") failure = toError(message.failure);
        else settle(message);
      });
    });
  }

  return {
    title: "The file of the queue",
    outageCode: "QUEUE_FILE",
    connect,
    async close() {
      const closing = thread;
      if (closing === undefined) return;
      const exited = once(closing, "exit");
      send("close");
      await settleWithin(exited, { deadlineMs: CLOSE_MS });
      await settleWithin(closing.terminate(), { deadlineMs: TERMINATE_MS });
    },
    ...(methods as Pick<Storage & Claims, MethodName>),
  };
}

function toError({ code, message }: ThreadFailure): Error {
  if (code?.startsWith("FILE_") === true) return new QueueError(code as QueueErrorCode, message);
  return Object.assign(new Error(message), code !== undefined && { code });
}
