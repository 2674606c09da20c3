import type { IncomingMessage, ServerResponse } from "node:http";
import type { WaitForChallenge } from "./challenge-wait";
import type { CloseOptions } from "./close-options";
import type { PushEvent, UnknownPushEvent } from "./event";
import type { HandlerRegistration, Handlers } from "./handlers";
import type { ErrorListener, RejectedListener } from "./reports";

/** The context of the handlers that `push.dispatch` runs. */
export interface DispatchContext {
  /** Which run of the handlers this is, from 1. @default 1 */
  attempt?: number | undefined;
  /** @default 0 */
  authTokenIndex?: number | undefined;
  /** @default 0 */
  publicUrlIndex?: number | undefined;
  /** @default the option `name` of this receiver */
  receiver?: string | undefined;
}

/**
 * A receiver of webhook requests: middleware for Express 4 and 5 and connect, or, called without
 * `next`, a listener of a bare `http` server. The promise that it returns never rejects.
 */
export interface PushWebhooks extends HandlerRegistration<PushWebhooks>, AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): Promise<void>;
  /**
   * Adds a listener of failures: of handlers, of a store, of a token lookup, and of the receiver
   * itself. A failure that also rejects its request, with a status of 500 or above, reaches
   * `onRejected` too; there is no event then. `CLOSING` is no failure.
   */
  onError(listener: ErrorListener): PushWebhooks;
  /**
   * Adds a listener of rejected requests, of any status; `error.message` says what to change, and
   * `error.explain()` finds why a signature does not match.
   */
  onRejected(listener: RejectedListener): PushWebhooks;
  /**
   * Waits for the event that approves or denies a challenge. Resolves at once if the event arrived
   * within the last 24 h: in this process, or with a queue in any. Its handlers may still run.
   *
   * @throws TypeError for an option that is missing or impossible; WebhookError
   *   `CHALLENGE_SID_INVALID`, `ENTITY_MISMATCH` for an outcome of another user,
   *   `ACCOUNT_NOT_ALLOWED`, `CHALLENGE_TIMEOUT`, `CLOSING`, `OVERLOADED`; the reason of `signal`.
   */
  waitForChallenge: WaitForChallenge;
  /**
   * Runs the handlers of an event and wakes the waits for it, as for a verified webhook request.
   *
   * @throws WebhookError `HANDLER_FAILED`, `HANDLER_TIMEOUT`, which `onError` received as well;
   *   `STORE_UNAVAILABLE` when a queue could not record the outcome.
   */
  dispatch(event: PushEvent | UnknownPushEvent, context?: DispatchContext): Promise<void>;
  /**
   * Rejects the waits at once, finishes the requests on open connections, then responds 503 and
   * closes the dedupe store. Call it after `server.close()`.
   */
  close(options?: CloseOptions): Promise<void>;
  /** The handlers of this receiver, for `queue.work(push.handlers)`. */
  readonly handlers: Handlers;
  /** The option of this name; the first of a list. */
  readonly publicUrl: string;
  /** The option `publicUrl` as a list. */
  readonly publicUrls: readonly string[];
}
