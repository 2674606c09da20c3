import { IncomingMessage, type ServerResponse } from "node:http";
import { createAccountScope } from "./account-scope";
import { boundRest, sendAnswer } from "./answer";
import { createAuthenticate } from "./authenticate";
import { createChallengeWaits } from "./challenge-wait";
import { CLOSE_RULES, type CloseOptions } from "./close-options";
import { createConnections } from "./connections";
import { createDedupe } from "./dedupe";
import { createDeliverLater, createDeliverNow } from "./deliver";
import { createHold } from "./hold";
import { createDispatch } from "./dispatch";
import { WebhookError } from "./errors";
import { createHandlers } from "./handlers";
import { createMemoryOutcomes } from "./memory-outcomes";
import { checkOptions } from "./option-rules";
import { createNeutralCause } from "./neutral-cause";
import { resolveReceiverOptions, type PushWebhooksOptions } from "./options";
import { isChallengeEvent, type PushEvent, type UnknownPushEvent } from "./event";
import type { QueuedEvent } from "./queue";
import type { DispatchContext, PushWebhooks } from "./receiver";
import { createReports } from "./reports";
import { describeRequest } from "./request";
import { hashText } from "./signature";

/** Kept for the completion mark when the handlers take all the time there is. */
const MARK_RESERVE_MS = 500;
/** How long a completion mark is retried when no response waits for it. */
const MARK_LIMIT_MS = 8_000;

/**
 * Creates a receiver of push-verification webhooks.
 *
 * @example
 * const push = pushWebhooks({ authToken, publicUrl: "https://app.example.com/webhooks/push" });
 * push.on("challenge.approved", async (event) => { … });
 * app.use("/webhooks/push", push);
 *
 * @throws TypeError for an option that is unknown or impossible.
 */
export function pushWebhooks(options: PushWebhooksOptions): PushWebhooks {
  if ((options as unknown) instanceof IncomingMessage) {
    throw new TypeError(
      "pushWebhooks creates the middleware and is not one itself. Write app.use(path, pushWebhooks({ authToken, publicUrl })).",
    );
  }
  const settings = resolveReceiverOptions("pushWebhooks", options);
  const { queue, name, acknowledge, deadlineMs, handlerTimeoutMs } = settings;
  const reports = createReports(settings.logger, name);
  const handlers = settings.handlers ?? createHandlers();
  const scope = createAccountScope({
    hasTokenPerAccount: typeof settings.authToken === "function",
    allowedAccountSids: settings.allowedAccountSids,
    // The last of a list stays the same while a domain moves.
    impliedAccount: name ?? hashText(settings.publicUrls.at(-1) ?? ""),
  });
  const outcomes = queue?.outcomes ?? createMemoryOutcomes();
  const waits = createChallengeWaits(outcomes, scope);
  const authenticate = createAuthenticate(settings, scope);
  const dispatchToHandlers = createDispatch(handlers, reports);
  const dedupe = createDedupe(settings.dedupe, reports.error);
  const afterDeadlineMs = acknowledge === "before" ? handlerTimeoutMs + MARK_LIMIT_MS : 0;
  const deliver =
    queue === undefined
      ? createDeliverNow(dedupe.deliverOnce, outcomes, runNow, afterDeadlineMs)
      : createDeliverLater(queue);
  const retryRecord = createHold();
  const connections = createConnections();
  let closing: Promise<void> | undefined;
  let isClosed = false;

  function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    const responded = respond(req, res, next);
    // Rejections after closing must not keep it from being closed.
    return isClosed ? responded : connections.track(req, res, responded);
  }

  async function respond(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    try {
      await receive(req, res);
    } catch (error) {
      return reject(error as WebhookError, req, res, next);
    }
    sendSafely(() => sendAnswer(req, res, { status: 200 }, settings), res);
  }

  async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const startMs = performance.now();
    const { event, delivery } = await accept(req, res, startMs + deadlineMs).catch(
      (error: unknown) => {
        const rejection = toWebhookError(error);
        reports.rejected(rejection, describeRequest(req), performance.now() - startMs);
        throw rejection;
      },
    );
    if (acknowledge === "after") await delivery.done;
    else void connections.track(req, res, delivery.done).catch(() => "the failure was reported");
    reports.taken(event, delivery.outcome);
  }

  async function accept(req: IncomingMessage, res: ServerResponse, deadlineAtMs: number) {
    if (isClosed) throw new WebhookError("CLOSING", "The receiver is closed.");
    const queued = await authenticate(req, res, deadlineAtMs);
    return { event: queued.event, delivery: await deliver(queued, deadlineAtMs) };
  }

  function runNow(
    { event, authTokenIndex, publicUrlIndex, receiver }: QueuedEvent,
    deadlineAtMs: number,
  ): Promise<void> {
    const leftMs = deadlineAtMs - performance.now() - MARK_RESERVE_MS;
    const timeoutMs =
      acknowledge === "after" ? Math.max(Math.min(handlerTimeoutMs, leftMs), 1) : handlerTimeoutMs;
    const context = { attempt: 1, authTokenIndex, publicUrlIndex, receiver };
    return dispatchToHandlers(event, context, timeoutMs);
  }

  async function dispatch(
    event: PushEvent | UnknownPushEvent,
    context: DispatchContext = {},
  ): Promise<void> {
    if (isChallengeEvent(event)) {
      // The hold keeps what Redis throws out of the error: it has the event in its arguments.
      const record = () => outcomes.record(scope.accountOf(event), event);
      await retryRecord(record, performance.now() + deadlineMs);
    }
    const { attempt = 1, authTokenIndex = 0, publicUrlIndex = 0, receiver = name } = context;
    const runContext = { attempt, authTokenIndex, publicUrlIndex, receiver };
    await dispatchToHandlers(event, runContext, handlerTimeoutMs);
  }

  function reject(
    rejection: WebhookError,
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): void {
    if (settings.forwardErrors && next !== undefined) {
      boundRest(req, settings.bodyTimeoutMs);
      sendSafely(() => next(rejection), res);
    } else {
      sendSafely(() => sendAnswer(req, res, rejection, settings), res);
    }
  }

  /** A library that replaced a method of `res`, or an error handler behind `next`, may throw. */
  function sendSafely(send: () => void, res: ServerResponse): void {
    try {
      send();
    } catch (error) {
      reports.error(toWebhookError(error));
      res.destroy();
    }
  }

  async function drain(limitMs = 10_000): Promise<void> {
    await connections.drain(limitMs);
    isClosed = true;
    await dedupe.close();
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    checkOptions("close", closeOptions, CLOSE_RULES);
    waits.close();
    return (closing ??= drain(closeOptions.deadlineMs));
  }

  const methods: Omit<PushWebhooks, "publicUrl" | "publicUrls"> = {
    on: chain(handlers.on),
    off: chain(handlers.off),
    onAny: chain(handlers.onAny),
    onUnhandled: chain(handlers.onUnhandled),
    handledTypes: handlers.handledTypes,
    onError: chain(reports.onError),
    onRejected: chain(reports.onRejected),
    waitForChallenge: waits.waitForChallenge,
    dispatch,
    close,
    handlers,
    [Symbol.asyncDispose]: () => close(),
  };
  // Not enumerable and accessors: util.inspect would show the user information of the URLs.
  const push = Object.defineProperties(Object.assign(pushWebhooksMiddleware, methods), {
    publicUrl: { get: () => settings.publicUrls[0] },
    publicUrls: { get: () => settings.publicUrls },
  }) as PushWebhooks;

  function chain<Args extends unknown[]>(register: (...args: Args) => unknown) {
    return (...args: Args): PushWebhooks => {
      register(...args);
      return push;
    };
  }

  return push;
}

function toWebhookError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  return new WebhookError("INTERNAL_ERROR", "The receiver itself failed; see the cause.", {
    cause: createNeutralCause(error),
  });
}
