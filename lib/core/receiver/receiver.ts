import type { IncomingMessage, ServerResponse } from "node:http";
import type { WaitOptions } from "../delivery/challenge-wait";
import type { CloseOptions } from "../../kit/closing";
import type { PushMethod } from "./verify-options";
import type { ChallengeOutcome } from "../delivery/outcome";
import type { PushEvent, UnknownPushEvent } from "../event/event";
import type { HandlerRegistration, Handlers } from "../delivery/handler-registry";
import type { Health } from "../../kit/health";
import type { ErrorListener, RejectedListener } from "../observability/reporter";

/** The context of the handlers that `push.dispatch` runs. */
export interface DispatchContext {
  /** The number of this run of the handlers, from 1. @default 1 */
  attempt?: number | undefined;
  /** The index of the token that signed the request. @default 0 */
  authTokenIndex?: number | undefined;
  /** The index of the publicUrl that was signed. @default 0 */
  publicUrlIndex?: number | undefined;
  /** The option `name` of a receiver. @default the name of this one */
  receiver?: string | undefined;
}

/**
 * A receiver of webhook requests: middleware for Express 4 and 5 and connect; without the argument
 * `next`, a listener of an `http` server, as in `createServer(push)`.
 *
 * It returns a promise that never rejects and resolves when the response is written. The type is
 * `void`, so that the lint rule no-misused-promises accepts the receiver as a listener.
 */
export interface PushWebhooks extends HandlerRegistration<PushWebhooks>, AsyncDisposable {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): void;
  /**
   * Handles a webhook request as a `Request` of the Web platform, as `push(req, res)` handles one of
   * `node:http`: for Hono, Next.js, SvelteKit, Remix, Bun, Deno and edge runtimes with the modules of
   * Node.js. With `forwardErrors` it responds, too. The body must be unread.
   *
   * @throws TypeError for a value that is no `Request`, and nothing else.
   */
  fetch(this: void, request: Request): Promise<Response>;
  /**
   * Adds a listener of failures of handlers, of a store, of a token lookup, and of the receiver. A
   * failure that also rejects its request, with a status of 500 or above, has no event and reaches
   * `onRejected` too. `CLOSING` is not a failure.
   */
  onError(listener: ErrorListener): PushWebhooks;
  /**
   * Adds a listener of rejected requests of any status. `error.message` says how to fix them;
   * `error.explain()` finds out why a signature does not match.
   */
  onRejected(listener: RejectedListener): PushWebhooks;
  /**
   * Waits until a challenge is approved or denied. Resolves immediately if its event arrived within
   * the last 24 h in this process, or with a queue in any process; its handlers may still run. With
   * `confirm: confirmWith(client)`, the wait asks the service for an outcome whose event is missing.
   *
   * @throws TypeError for an option that is missing or not valid; WebhookError
   *   `CHALLENGE_SID_INVALID`, `ENTITY_MISMATCH` for an outcome of another user,
   *   `ACCOUNT_NOT_ALLOWED`, `CHALLENGE_TIMEOUT`, whose cause is why the service could not be asked,
   *   `CLOSING`, `OVERLOADED`; the reason of `signal`.
   */
  waitForChallenge: (options: WaitOptions) => Promise<ChallengeOutcome>;
  /**
   * Runs the handlers of an event and resolves the waits for its outcome, as for an authenticated
   * webhook request. The event is not deduplicated.
   *
   * @throws WebhookError `HANDLER_FAILED`, `HANDLER_TIMEOUT`, which `onError` receives too;
   *   `STORE_UNAVAILABLE` when a queue cannot record the outcome.
   */
  dispatch(event: PushEvent | UnknownPushEvent, context?: DispatchContext): Promise<void>;
  /**
   * Rejects the pending waits and waits for the running requests, until `deadlineMs` at most. From
   * then on the receiver responds 503 with `CLOSING`. Call it after
   * `server.close()`; connections are closed by the server, with `server.closeIdleConnections()`.
   */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Returns within a second whether this receiver can do its work, for a probe. With a queue, its
   * health; otherwise `"degraded"` since a call of the dedupe store failed, until one succeeds.
   * Never rejects.
   */
  health(this: void): Promise<Health>;
  /** The handlers of this receiver, for `queue.work(push.handlers)`. */
  readonly handlers: Handlers;
  /** The option `publicUrl`; the first URL of a list. */
  readonly publicUrl: string;
  /** The option `publicUrl` as a list. */
  readonly publicUrls: readonly string[];
  /** The option `methods`. */
  readonly methods: readonly PushMethod[];
}
