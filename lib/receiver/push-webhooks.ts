import { IncomingMessage, type ServerResponse } from "node:http";
import { CLOSE_RULES, settleWithin, type CloseOptions } from "./close-options";
import { createObservers, registerInspection, type Observation } from "./inspection";
import { resolveReceiverOptions, type PushWebhooksOptions } from "./options";
import { NodeRequest } from "./node-request";
import { sendResponse } from "./node-response";
import { createWarnOfPath } from "./path-warning";
import type { DispatchContext, PushWebhooks } from "./receiver";
import { toWebhookError } from "./rejection";
import { createReceiveEvent } from "./request-path";
import { createRunningRequests } from "./running-requests";
import { describeResponse } from "./response";
import { WebRequest } from "./web-request";
import { describeRequest, type ReceivedRequest } from "./received-request";
import { createChallengeWaits } from "../challenge/challenge-wait";
import { createDeliverLater, createDeliverNow } from "../delivery/deliver";
import { createDeliverOnce, deliverEach } from "../delivery/deliver-once";
import { createDispatch } from "../delivery/dispatch";
import { createHandlers } from "../delivery/handler-registry";
import { createRetry } from "../delivery/retry";
import { WebhookError } from "../errors/webhook-error";
import { createAccountScope } from "../event/account-scope";
import { isChallengeEvent, type PushEvent, type UnknownPushEvent } from "../event/event";
import type { QueuedEvent } from "../delivery/event-queue";
import { createMemoryOutcomes } from "../memory/memory-outcomes";
import { publish } from "../observability/diagnostics";
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
  const {
    publicUrls,
    queue,
    name,
    acknowledge,
    deadlineMs,
    handlerTimeoutMs,
    limitBytes,
    bodyTimeoutMs,
  } = settings;
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
  const confirmTypes = new Set<string>(settings.confirm && settings.confirmTypes);
  const dispatchToHandlers = createDispatch(handlers, reports);
  const deliverOnce =
    settings.dedupe === false ? deliverEach : createDeliverOnce(settings.dedupe, reports.error);
  const deliver =
    queue === undefined
      ? createDeliverNow(settings, deliverOnce, outcomes, dispatchToHandlers)
      : createDeliverLater(queue);
  const receiveEvent = createReceiveEvent(settings);
  const warnOfPath = createWarnOfPath(publicUrls);
  const observers = createObservers();
  const running = createRunningRequests();
  let isClosed = false;
  let closing: Promise<void> | undefined;

  /** Handles a request; returns the reason why it was rejected. */
  async function handle(request: ReceivedRequest): Promise<WebhookError | undefined> {
    const startMs = performance.now();
    const observed = observers.start();
    let isDelivered = false;
    try {
      if (isClosed) throw new WebhookError("CLOSING", "The receiver is closed.");
      publish("received", { method: request.method });
      const received = await receiveEvent(request, startMs + deadlineMs);
      const { event } = received;
      const queued: QueuedEvent = {
        event,
        account: scope.accountOf(event),
        accountSid: event.account_sid,
        uuid: event.uuid,
        // A signature is a hash of the content, except that it depends on the token.
        contentHash: received.signature,
        listOtherHashes: received.listOtherSignatures,
        authTokenIndex: received.authTokenIndex,
        publicUrlIndex: received.publicUrlIndex,
        needsConfirmation: confirmTypes.has(event.type),
        receiver: name,
      };
      if (observed !== undefined) observed.queued = queued;
      const { result, finished } = await deliver(queued, startMs + deadlineMs);
      if (observed !== undefined) observed.result = result;
      isDelivered = true;
      if (acknowledge === "after") await finished;
      else finishLater(finished, observed);
      reports.delivered(event, result);
      observed?.finish();
      return undefined;
    } catch (error) {
      const rejection = toWebhookError(error);
      observed?.finish(rejection, describeRequest(request));
      // The failure of a handler was reported already.
      if (!isDelivered) {
        reports.rejected(rejection, describeRequest(request), performance.now() - startMs);
      }
      return rejection;
    }
  }

  function finishLater(finished: Promise<void>, observed: Observation | undefined): void {
    running.begin();
    finished.then(running.end, (error: unknown) => {
      running.end();
      observed?.failLater(toWebhookError(error));
    });
  }

  async function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    running.begin();
    try {
      const request = new NodeRequest(req, settings);
      const rejection = await handle(request);
      if (rejection !== undefined && rejection.status < 500)
        warnOfPath(request.target, request.isMounted);
      if (rejection !== undefined && settings.forwardErrors && next !== undefined) next(rejection);
      else
        sendResponse(req, res, rejection, {
          limitBytes,
          bodyTimeoutMs,
          isClosing: closing !== undefined,
        });
    } catch (error) {
      // A library that replaced a method of `res`, or an error handler of the app, may throw.
      reports.error(toWebhookError(error));
      res.destroy();
    } finally {
      running.end();
    }
  }

  async function fetch(request: Request): Promise<Response> {
    running.begin();
    try {
      const { status, headers, text } = describeResponse(
        await handle(new WebRequest(request, settings)),
      );
      return new Response(text === "" ? null : text, { status, headers });
    } finally {
      running.end();
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

  async function drain(closeOptions: CloseOptions): Promise<void> {
    await settleWithin(running.awaitNone(), closeOptions);
    isClosed = true;
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
    waits.close();
    return (closing ??= drain(closeOptions));
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
    fetch,
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
