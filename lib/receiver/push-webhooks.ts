import { IncomingMessage, type ServerResponse } from "node:http";
import { CLOSE_RULES, DEFAULT_CLOSE_DEADLINE_MS, type CloseOptions } from "./close-options";
import { createConnections } from "./connections";
import { createObservers, registerInspection, type Observation } from "./inspection";
import { resolveReceiverOptions, type PushWebhooksOptions } from "./options";
import { createWarnOfPath } from "./path-warning";
import type { DispatchContext, PushWebhooks } from "./receiver";
import { toWebhookError } from "./rejection";
import { describeRequest } from "./request-info";
import { createReceive } from "./request-path";
import { createRespond } from "./response";
import { createChallengeWaits } from "../challenge/challenge-wait";
import { createDedupe } from "../delivery/dedupe";
import { createDeliverLater, createDeliverNow } from "../delivery/deliver";
import { createDispatch } from "../delivery/dispatch";
import { createHandlers } from "../delivery/handler-registry";
import { createRetry } from "../delivery/retry";
import { WebhookError } from "../errors/webhook-error";
import { createAccountScope } from "../event/account-scope";
import { isChallengeEvent, type PushEvent, type UnknownPushEvent } from "../event/event";
import { createMemoryOutcomes } from "../memory/memory-outcomes";
import { createReporter } from "../observability/reporter";
import { hashText } from "../signature/signature";
import { validateOptions } from "../validation/validate-options";

/**
 * Creates a receiver of push-verification webhooks.
 *
 * @example
 * const push = pushWebhooks({ authToken, publicUrl: "https://app.example.com/webhooks/push" });
 * push.on("challenge.approved", async (event) => { … });
 * // The path of publicUrl: without a path, push would reject the requests of all later routes.
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
  const settings = resolveReceiverOptions(options);
  const { publicUrls, queue, name, acknowledge, deadlineMs, handlerTimeoutMs } = settings;
  const reports = createReporter(settings.logger, name);
  const handlers = settings.handlers ?? createHandlers();
  const scope = createAccountScope({
    hasTokenPerAccount: typeof settings.authToken === "function",
    allowedAccountSids: settings.allowedAccountSids,
    // The last of a list stays the same while a domain moves.
    impliedAccount: name ?? hashText(publicUrls.at(-1) ?? ""),
  });
  const outcomes = queue?.outcomes ?? createMemoryOutcomes();
  const waits = createChallengeWaits(outcomes, scope);
  const retryRecord = createRetry();
  const connections = createConnections();
  const dedupe = createDedupe(settings.dedupe, reports.error);
  const dispatchToHandlers = createDispatch(handlers, reports);
  const deliver =
    queue === undefined
      ? createDeliverNow(settings, dedupe.deliverOnce, outcomes, dispatchToHandlers)
      : createDeliverLater(queue);
  const receive = createReceive(settings, scope, deliver);
  const respond = createRespond(settings, reports);
  const warnOfPath = createWarnOfPath(publicUrls);
  const observers = createObservers();
  let isClosed = false;
  let closing: Promise<void> | undefined;

  async function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    // Rejections after closing must not keep the receiver open.
    const endRequest = isClosed ? undefined : connections.begin(req, res);
    const startMs = performance.now();
    const observed = observers.start();
    let isDelivered = false;
    try {
      if (isClosed) throw new WebhookError("CLOSING", "The receiver is closed.");
      const { event, delivery } = await receive(req, res, startMs + deadlineMs, observed);
      isDelivered = true;
      if (acknowledge === "after") await delivery.finished;
      else finishLater(delivery.finished, connections.begin(req, res), observed);
      reports.delivered(event, delivery.result);
      observed?.finish();
      respond(req, res);
    } catch (error) {
      const rejection = toWebhookError(error);
      observed?.finish(rejection, describeRequest(req));
      // The failure of a handler was reported already.
      if (!isDelivered) {
        reports.rejected(rejection, describeRequest(req), performance.now() - startMs);
        if (rejection.status < 500) warnOfPath(req);
      }
      respond(req, res, rejection, next);
    } finally {
      endRequest?.();
    }
  }

  async function dispatch(event: PushEvent | UnknownPushEvent, context: DispatchContext = {}) {
    if (isChallengeEvent(event)) {
      // Retrying omits the arguments that Redis adds to its errors: they contain the event.
      const record = () => outcomes.record(scope.accountOf(event), event);
      await retryRecord(record, performance.now() + deadlineMs);
    }
    const { attempt = 1, authTokenIndex = 0, publicUrlIndex = 0, receiver = name } = context;
    const runContext = { attempt, authTokenIndex, publicUrlIndex, receiver };
    await dispatchToHandlers(event, runContext, handlerTimeoutMs);
  }

  async function drain(limitMs = DEFAULT_CLOSE_DEADLINE_MS): Promise<void> {
    await connections.drain(limitMs);
    isClosed = true;
    await dedupe.close();
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
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
  // Accessors that are not enumerable: util.inspect would show the user information of the URLs.
  const push = Object.defineProperties(Object.assign(pushWebhooksMiddleware, methods), {
    publicUrl: { get: () => publicUrls[0] },
    publicUrls: { get: () => publicUrls },
  }) as unknown as PushWebhooks;
  registerInspection(push, settings, observers.observe, waits.readPending);

  function chain<Args extends unknown[]>(register: (...args: Args) => unknown) {
    return (...args: Args): PushWebhooks => {
      register(...args);
      return push;
    };
  }

  return push;
}

function finishLater(finished: Promise<void>, endRequest: () => void, observed?: Observation) {
  finished.then(endRequest, endRequest);
  finished.catch((error: unknown) => observed?.failLater(toWebhookError(error)));
}
