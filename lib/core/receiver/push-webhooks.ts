import { IncomingMessage, type ServerResponse } from "node:http";
import {
  CLOSE_RULES,
  createRunningRequests,
  settleWithin,
  type CloseOptions,
} from "../../kit/closing";
import { createAuthenticate } from "./authenticate";
import { createCheckEvent, hashContent } from "./check-event";
import { checkHeaders } from "./method-and-headers";
import { createObservers, registerInspection } from "./inspection";
import { resolveReceiverOptions, type PushWebhooksOptions } from "./options";
import { claimQueueName } from "./queue-names";
import { NodeRequest } from "./node-request";
import { createWarnOfPath, warnOfDeadline, warnOfGet, warnOfWait } from "./warnings";
import type { PushWebhooks } from "./receiver";
import { sendResponse, toRejection, toWebhookError } from "./response";
import { createResponse, WebRequest } from "./web-request";
import { captureRequest, describeRequest, type IncomingRequest } from "./incoming-request";
import { createChallengeWaits } from "../delivery/challenge-wait";
import { createDelivery } from "../delivery/delivery";
import type { QueuedEvent } from "../delivery/event-queue";
import { createHandlers, noteWait } from "../delivery/handler-registry";
import { Callbacks, destroyResponse } from "../../kit/callbacks";
import { WebhookError } from "../errors/webhook-error";
import type { DeliveryResult } from "../event/event";
import { createAccountScope } from "../delivery/account-scope";
import { createMemoryOutcomes } from "../delivery/memory-outcomes";
import { publish, trace } from "../observability/diagnostics";
import { CLOSED } from "../observability/health";
import { createReporter } from "../observability/reporter";
import { validateOptions } from "../../kit/validate-options";

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
  const { publicUrls, queue, name, acknowledge, deadlineMs } = settings;
  const releaseName = claimQueueName(settings);
  const reports = createReporter(settings.logger, name === undefined ? {} : { receiver: name });
  const handlers = settings.handlers ?? createHandlers();
  const scope = createAccountScope(settings);
  const outcomes = queue?.outcomes ?? createMemoryOutcomes();
  const waits = createChallengeWaits(outcomes, scope, settings.confirm?.fetchOutcome);
  const delivery = createDelivery(settings, handlers, outcomes, scope.accountOf, reports);
  const authenticate = createAuthenticate(settings);
  const checkEvent = createCheckEvent(settings);
  warnOfDeadline(settings);
  warnOfGet(settings);
  const warnOfPath = createWarnOfPath(publicUrls);
  const observers = createObservers(settings.limitBytes);
  const running = createRunningRequests();
  /** Set when `close` is called: the response asks clients to connect elsewhere. */
  let closing: Promise<void> | undefined;
  /** Set when the running requests have ended, or their time is over: others are rejected. */
  let isClosed = false;

  /** Handles a request; returns the reason why it was rejected. */
  async function handle(request: IncomingRequest): Promise<WebhookError | undefined> {
    const startMs = performance.now();
    const deadlineAtMs = startMs + deadlineMs;
    const observe = observers.start(request, startMs);
    let body: unknown;
    let queued: QueuedEvent | undefined;
    let result: DeliveryResult | undefined;
    try {
      if (isClosed) throw new WebhookError("CLOSING", "The receiver is closed.");
      publish("received", () => ({ method: request.method }));
      const headers = checkHeaders(request, settings);
      body = await request.readBody(headers.hasBody);
      const authenticated = await authenticate(request, headers, body, deadlineAtMs);
      const { event, authTokenIndex, publicUrlIndex, needsConfirmation, ambiguity } =
        checkEvent(authenticated);
      const { contentHash, listOtherHashes } = hashContent(authenticated, ambiguity);
      // Each field by its name: a spread costs a request 10 µs on Node 20.
      queued = {
        event,
        account: scope.accountOf(event.account_sid),
        accountSid: event.account_sid,
        uuid: event.uuid,
        contentHash,
        listOtherHashes,
        authTokenIndex,
        publicUrlIndex,
        needsConfirmation,
        ambiguity,
        receiver: name,
      };
      const accepted = await delivery.accept(queued, deadlineAtMs);
      ({ result } = accepted);
      if (acknowledge === "after") await accepted.finished;
      else finishLater(accepted.finished, (error) => observe?.({ queued, result, error }, body));
      reports.delivered(event, result);
      observe?.({ queued, result }, body);
      return undefined;
    } catch (error) {
      const rejection = toRejection(error, request);
      observe?.({ queued, result, error: rejection }, body);
      // The failure of a handler was reported already.
      if (result === undefined) {
        const durationMs = performance.now() - startMs;
        const capture = () => captureRequest(request, body);
        reports.rejected(rejection, describeRequest(request), durationMs, capture);
      }
      return rejection;
    }
  }

  function receive(request: IncomingRequest): Promise<WebhookError | undefined> {
    const describe = () => {
      const { method, path } = describeRequest(request);
      const urls = publicUrls.map((url) => new URL(url));
      const route = urls.some(({ pathname }) => pathname === path) ? path : undefined;
      const scheme = urls[0]?.protocol.slice(0, -1) ?? "";
      return { method, path, route, scheme, receiver: name };
    };
    return trace("receive", describe, () => handle(request));
  }

  function finishLater(finished: Promise<void>, onFailed: (error: WebhookError) => void): void {
    running.begin();
    finished.catch((error: unknown) => onFailed(toWebhookError(error))).finally(running.end);
  }

  // Not an async function: restify rejects one with three parameters.
  function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    return respond(req, res, next);
  }

  async function respond(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    // A library that replaced a method of `res`, or an error handler of the app, may throw.
    const callbacks = new Callbacks((error) => {
      reports.error(toWebhookError(error));
      destroyResponse(req, res);
    });
    running.begin();
    try {
      const request = new NodeRequest(req, settings);
      const rejection = await receive(request);
      if (rejection === undefined || rejection.status < 500) {
        warnOfPath(request.target, request.isMounted, rejection === undefined);
      }
      if (rejection !== undefined && settings.forwardErrors && next !== undefined) next(rejection);
      else sendResponse(req, res, rejection, settings, closing !== undefined, callbacks);
    } catch (error) {
      callbacks.onThrown(error);
    } finally {
      running.end();
    }
  }

  async function fetch(request: Request): Promise<Response> {
    running.begin();
    try {
      return createResponse(await receive(new WebRequest(request, settings)));
    } finally {
      running.end();
    }
  }

  function close(closeOptions: CloseOptions = {}): Promise<void> {
    validateOptions("close", closeOptions, CLOSE_RULES);
    waits.close();
    closing ??= settleWithin(running.awaitNone(), closeOptions).finally(() => {
      isClosed = true;
      releaseName();
    });
    return closing;
  }

  const methods: Omit<PushWebhooks, "publicUrl" | "publicUrls" | "methods"> = {
    on: chain(handlers.on),
    off: chain(handlers.off),
    onAny: chain(handlers.onAny),
    onUnhandled: chain(handlers.onUnhandled),
    handledTypes: handlers.handledTypes,
    onError: chain(reports.onError),
    onRejected: chain(reports.onRejected),
    waitForChallenge(wait) {
      warnOfWait(settings);
      noteWait(handlers);
      return waits.waitForChallenge(wait);
    },
    dispatch: delivery.dispatch,
    fetch,
    health: async () => (closing === undefined ? delivery.health() : CLOSED),
    close,
    handlers,
    [Symbol.asyncDispose]: () => close(),
  };
  // Accessors that are not enumerable: util.inspect would show the user information of the URLs.
  const push = Object.defineProperties(Object.assign(pushWebhooksMiddleware, methods), {
    publicUrl: { get: () => publicUrls[0] },
    publicUrls: { get: () => publicUrls },
    methods: { value: Object.freeze(settings.methods) },
  }) as unknown as PushWebhooks;
  const { observe } = observers;
  registerInspection(push, settings, { observe, listPendingWaits: waits.listPending });

  function chain<Args extends unknown[]>(register: (...args: Args) => unknown) {
    return (...args: Args): PushWebhooks => {
      register(...args);
      return push;
    };
  }

  return push;
}
