import { IncomingMessage, type ServerResponse } from "node:http";
import {
  CLOSE_RULES,
  createRunningRequests,
  settleWithin,
  type CloseOptions,
} from "../../kit/closing";
import { Observers, registerInspection } from "./inspection";
import {
  resolveReceiverOptions,
  type PushWebhooksOptions,
  type PushWebhooksSettings,
} from "./options";
import { claimQueueName } from "./queue-names";
import { NodeRequest } from "./node-request";
import { createWarnOfPath, warnOfDeadline, warnOfGet, warnOfWait } from "./warnings";
import type { PushWebhooks } from "./receiver";
import { sendResponse, toRejection, toWebhookError } from "./response";
import { createVerify, type VerifiedEvent } from "./verify";
import { createResponse, WebRequest } from "./web-request";
import { captureRequest, describeRequest, type IncomingRequest } from "./incoming-request";
import { confirmOnce } from "../delivery/confirmation";
import { ChallengeWaits } from "../delivery/challenge-wait";
import { createDelivery } from "../delivery/delivery";
import type { QueuedEvent } from "../delivery/event-queue";
import { createHandlers, noteWait, type Handlers } from "../delivery/handler-registry";
import { Callbacks, destroyResponse } from "../../kit/callbacks";
import { WebhookError } from "../errors/webhook-error";
import { isPromise } from "node:util/types";
import type { DeliveryResult } from "../event/event";
import { createAccountScope } from "../delivery/account-scope";
import { createMemoryOutcomes } from "../delivery/memory-outcomes";
import type { Journal } from "../journal/journal";
import { MemoryJournal } from "../delivery/memory-journal";
import { RequestWriter } from "./request-writer";
import { publish, trace } from "../observability/diagnostics";
import { CLOSED, type Health } from "../../kit/health";
import { Reporter, type ErrorListener, type RejectedListener } from "../observability/reporter";
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
  const { publicUrls } = settings;
  const handlers = settings.handlers ?? createHandlers();
  const receiver = new Receiver(settings, handlers);
  const { reports, waits, delivery, observers } = receiver;
  warnOfDeadline(settings);
  warnOfGet(settings);

  // Not an async function: restify rejects one with three parameters.
  function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    return receiver.respond(req, res, next);
  }

  const methods: Omit<PushWebhooks, "publicUrl" | "publicUrls" | "methods"> = {
    on: chain(handlers.on),
    off: chain(handlers.off),
    onAny: chain(handlers.onAny),
    onUnhandled: chain(handlers.onUnhandled),
    handledTypes: handlers.handledTypes,
    onError: chain((listener: ErrorListener) => reports.onError(listener)),
    onRejected: chain((listener: RejectedListener) => reports.onRejected(listener)),
    waitForChallenge(wait) {
      warnOfWait(settings);
      noteWait(handlers);
      return waits.wait(wait);
    },
    dispatch: delivery.dispatch,
    fetch: (request) => receiver.fetch(request),
    health: () => receiver.health(),
    close: (closeOptions) => receiver.close(closeOptions),
    handlers,
    [Symbol.asyncDispose]: () => receiver.close(),
  };
  // Accessors that are not enumerable: util.inspect would show the user information of the URLs.
  const push = Object.defineProperties(Object.assign(pushWebhooksMiddleware, methods), {
    publicUrl: { get: () => publicUrls[0] },
    publicUrls: { get: () => publicUrls },
    methods: { value: Object.freeze(settings.methods) },
  }) as unknown as PushWebhooks;
  registerInspection(push, settings, {
    observe: (observer) => observers.add(observer),
    listPendingWaits: () => waits.listPending(),
    waitForChallenge: (wait) => waits.wait(wait),
    async redeliver({ event, needsConfirmation, ambiguity, ...context }) {
      if (needsConfirmation === true) await confirmOnce(settings.confirm, event, ambiguity);
      await delivery.dispatch(event, context);
    },
    openJournal: () => receiver.openJournal(),
  });

  function chain<Args extends unknown[]>(register: (...args: Args) => unknown) {
    return (...args: Args): PushWebhooks => {
      register(...args);
      return push;
    };
  }

  return push;
}

class Receiver {
  readonly #settings: PushWebhooksSettings;
  readonly #verify;
  readonly #accountOf;
  readonly #warnOfPath;
  readonly #releaseName;
  readonly #running = createRunningRequests();
  #journal: Journal | undefined;
  /** Set when `close` is called: the response asks clients to connect elsewhere. */
  #closing: Promise<void> | undefined;
  /** Set when the running requests have ended, or their time is over: others are rejected. */
  #isClosed = false;
  readonly reports;
  readonly waits;
  readonly delivery;
  readonly observers = new Observers();

  constructor(settings: PushWebhooksSettings, handlers: Handlers) {
    const { name, queue } = settings;
    this.#settings = settings;
    this.#releaseName = claimQueueName(settings);
    this.reports = new Reporter(settings.logger, name === undefined ? {} : { receiver: name });
    const scope = createAccountScope(settings);
    const { accountOf } = scope;
    const outcomes = queue?.outcomes ?? createMemoryOutcomes();
    this.waits = new ChallengeWaits(outcomes, scope, settings.confirm?.fetchOutcome);
    this.delivery = createDelivery(settings, handlers, outcomes, accountOf, this.reports);
    this.#accountOf = accountOf;
    this.#verify = createVerify(settings);
    this.#warnOfPath = createWarnOfPath(settings.publicUrls);
    if (queue?.journal !== undefined) this.#writeTo(queue.journal);
  }

  openJournal(): Journal {
    return this.#journal ?? this.#writeTo(new MemoryJournal());
  }

  #writeTo(journal: Journal): Journal {
    this.observers.add(new RequestWriter(journal, this.#settings).write);
    this.#journal = journal;
    return journal;
  }

  async respond(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    const settings = this.#settings;
    // A library that replaced a method of `res`, or an error handler of the app, may throw.
    const callbacks = new Callbacks((error) => {
      this.reports.error(toWebhookError(error));
      destroyResponse(req, res);
    });
    this.#running.begin();
    try {
      const request = new NodeRequest(req, settings);
      const rejection = await this.#receive(request);
      if (rejection === undefined || rejection.status < 500) {
        this.#warnOfPath(request.target, request.isMounted, rejection === undefined);
      }
      const mustReconnect = this.#closing !== undefined;
      if (rejection !== undefined && settings.forwardErrors && next !== undefined) next(rejection);
      else sendResponse(req, res, rejection, settings, mustReconnect, callbacks);
    } catch (error) {
      callbacks.onThrown(error);
    } finally {
      this.#running.end();
    }
  }

  async fetch(request: Request): Promise<Response> {
    this.#running.begin();
    try {
      return createResponse(await this.#receive(new WebRequest(request, this.#settings)));
    } finally {
      this.#running.end();
    }
  }

  #receive(request: IncomingRequest): Promise<WebhookError | undefined> {
    const describe = () => {
      const { name: receiver, publicUrls } = this.#settings;
      const { method, path } = describeRequest(request);
      const urls = publicUrls.map((url) => new URL(url));
      const route = urls.some(({ pathname }) => pathname === path) ? path : undefined;
      const scheme = urls[0]?.protocol.slice(0, -1) ?? "";
      return { method, path, route, scheme, receiver };
    };
    return trace("receive", describe, () => this.#handle(request));
  }

  /** Handles a request; returns the reason why it was rejected. */
  async #handle(request: IncomingRequest): Promise<WebhookError | undefined> {
    const startMs = performance.now();
    const deadlineAtMs = startMs + this.#settings.deadlineMs;
    let queued: QueuedEvent | undefined;
    let result: DeliveryResult | undefined;
    try {
      if (this.#isClosed) throw new WebhookError("CLOSING", "The receiver is closed.");
      publish("received", () => ({ method: request.method }));
      const verified = await this.#verify(request, deadlineAtMs);
      queued = this.#queue(verified);
      const accepting = this.delivery.accept(queued, deadlineAtMs);
      const { finished, result: accepted } = isPromise(accepting) ? await accepting : accepting;
      result = accepted;
      if (this.#settings.acknowledge === "before") {
        this.#finishLater(finished, (error) =>
          this.observers.tell(request, startMs, queued, result, error, true),
        );
      } else if (finished !== undefined) await finished;
      this.reports.delivered(verified.event, result);
      this.observers.tell(request, startMs, queued, result);
      return undefined;
    } catch (error) {
      const rejection = toRejection(error, request);
      this.observers.tell(request, startMs, queued, result, rejection);
      // The failure of a handler was reported already.
      if (result === undefined) {
        const durationMs = performance.now() - startMs;
        const capture = () => captureRequest(request);
        this.reports.rejected(rejection, describeRequest(request), durationMs, capture);
      }
      return rejection;
    }
  }

  #queue(verified: VerifiedEvent): QueuedEvent {
    const { event, contentHash, listOtherHashes, authTokenIndex, publicUrlIndex } = verified;
    // Each field by its name: a spread costs a request 10 µs on Node 20.
    return {
      event,
      authenticatedAccount: this.#accountOf(event.account_sid),
      accountSid: event.account_sid,
      uuid: event.uuid,
      contentHash,
      listOtherHashes,
      authTokenIndex,
      publicUrlIndex,
      needsConfirmation: verified.needsConfirmation,
      ambiguity: verified.ambiguity,
      receiver: this.#settings.name,
    };
  }

  #finishLater(finished: Promise<void> | void, onFailed: (error: WebhookError) => void): void {
    if (finished === undefined) return;
    this.#running.begin();
    finished.catch((error: unknown) => onFailed(toWebhookError(error))).finally(this.#running.end);
  }

  async health(): Promise<Health> {
    return this.#closing === undefined ? this.delivery.health() : CLOSED;
  }

  close(options: CloseOptions = {}): Promise<void> {
    validateOptions("close", options, CLOSE_RULES);
    this.waits.close();
    this.#closing ??= settleWithin(this.#running.awaitNone(), options).finally(() => {
      this.#isClosed = true;
      this.#releaseName();
    });
    return this.#closing;
  }
}
