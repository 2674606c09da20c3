import { IncomingMessage, type ServerResponse } from "node:http";
import { boundRest, sendAnswer } from "./answer";
import { createReadBody } from "./body";
import { createChallengeOutcomes } from "./challenges";
import { createDeliverOnce, deliverEach } from "./dedupe";
import { createDeliverLater, createDeliverNow, createHandle } from "./deliver";
import { publish } from "./diagnostics";
import { createHandlerDispatch, createHandlerRegistry } from "./dispatch";
import type { DispatchContext, HandledEvent, HandledType, Handler } from "./dispatch";
import { WebhookError } from "./errors";
import { checkHead } from "./head";
import { createHold } from "./hold";
import { createNeutralCause } from "./neutral-cause";
import { resolveReceiverOptions, type PushWebhooksOptions } from "./options";
import type { ChallengeEvent, PushEvent, PushEventType, UnknownPushEvent } from "./event";
import { createReports } from "./reports";
import type { ErrorListener, RejectedListener } from "./reports";
import { describeRequest, readHead, readReceivedUrl, readTarget } from "./request";
import type { WaitOptions } from "./waiting";
import { coverGet, coverPost, createVerifyCall } from "./verify";

/**
 * A receiver of webhook calls: middleware for Express 4 and 5, connect, or, called without `next`,
 * a listener of a bare `http` server. The promise it returns never rejects.
 */
export interface PushWebhooks {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): Promise<void>;
  /**
   * Adds a handler of one type of event, of several, or of all five (`"*"`). The handlers of an
   * event run at the same time, each once. One that throws or rejects fails the call.
   *
   * @throws TypeError for a type that does not exist.
   */
  on<Type extends HandledType>(
    types: Type | readonly Type[],
    handler: Handler<HandledEvent<Type>>,
  ): PushWebhooks;
  /** Removes a handler from one type of event, or several. */
  off<Type extends HandledType>(
    types: Type | readonly Type[],
    handler: Handler<HandledEvent<Type>>,
  ): PushWebhooks;
  /** Adds a handler of the events that no other handles, those of unknown types among them. */
  onUnhandled(handler: Handler<PushEvent | UnknownPushEvent>): PushWebhooks;
  /** Adds a listener of failures after a call was accepted: of handlers, or of a store. */
  onError(listener: ErrorListener): PushWebhooks;
  /**
   * Adds a listener of refused calls; `error.message` says what to change, and `error.explain()`
   * finds out why a signature does not match.
   */
  onRejected(listener: RejectedListener): PushWebhooks;
  /**
   * Waits for the event that approves or denies a challenge; resolves at once if it came within
   * the last hour: in this process, or with a queue in any. Its handlers may still run.
   *
   * @throws TypeError for what is not a challenge SID; WebhookError `CHALLENGE_TIMEOUT` after
   *   `timeoutMs` (default 5 minutes), `CLOSING`, `OVERLOADED`; the reason of `signal`.
   */
  waitForChallenge(challengeSid: string, options?: WaitOptions): Promise<ChallengeEvent>;
  /**
   * Runs the handlers of an event, as for a call that was taken; for queues, which call it later.
   *
   * @throws WebhookError `HANDLER_FAILED`, `HANDLER_TIMEOUT`, which `onError` was told of.
   */
  handle(event: PushEvent | UnknownPushEvent, context: DispatchContext): Promise<void>;
  /** Answers later calls 503, and resolves when those that were taken are finished. */
  close(): Promise<void>;
  /** The option of this name. */
  readonly publicUrl: string;
  /** The types of event that have a handler now. */
  handledTypes(): PushEventType[];
}

/**
 * Makes a receiver of push-verification webhooks.
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
      "pushWebhooks makes the middleware and is not one itself. Write app.use(path, pushWebhooks({ authToken, publicUrl })).",
    );
  }
  const settings = resolveReceiverOptions("pushWebhooks", options);
  const { queue } = settings;
  const reports = createReports(settings.logger);
  const registry = createHandlerRegistry();
  const challenges = createChallengeOutcomes();
  const readBody = createReadBody(settings.limitBytes, settings.bodyTimeoutMs);
  const verifyCall = createVerifyCall(settings);
  const handle = createHandle(createHandlerDispatch(registry, settings.handlerTimeoutMs), reports);
  const deliverOnce =
    settings.dedupe === false
      ? deliverEach
      : createDeliverOnce(settings.dedupe, createHold(), reports.error);
  const deliver =
    queue === undefined
      ? createDeliverNow(deliverOnce, handle, challenges)
      : createDeliverLater(queue);
  const running = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  function pushWebhooksMiddleware(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    const answered = answer(req, res, next);
    // Refusals while it closes must not keep it from closing.
    return closed === undefined ? track(answered) : answered;
  }

  async function answer(
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> {
    try {
      await receive(req, res);
    } catch (error) {
      return refuse(error as WebhookError, req, res, next);
    }
    sendSafely(() => sendAnswer(req, res, { status: 200 }, settings), res);
  }

  async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const startMs = performance.now();
    const { event, delivery } = await take(req, res).catch((error: unknown) => {
      const refusal = toWebhookError(error);
      reports.rejected(refusal, describeRequest(req), performance.now() - startMs);
      throw refusal;
    });
    if (settings.acknowledge === "after") await delivery.done;
    else void track(delivery.done).catch(() => "handle has reported it");
    reports.taken(event, delivery.outcome);
  }

  async function take(req: IncomingMessage, res: ServerResponse) {
    const head = readHead(req);
    publish("received", { method: head.method ?? "" });
    if (closed !== undefined) throw new WebhookError("CLOSING", "The receiver was closed.");
    const checked = checkHead(head, settings);
    const parts =
      checked.method === "GET"
        ? coverGet(settings.publicUrl, readTarget(req))
        : coverPost(settings.publicUrl, await readBody(req, res, checked.hasBody));
    const { event, authTokenIndex } = await verifyCall(checked, parts, () => readReceivedUrl(req));
    const { uuid } = event;
    // A signature is a hash of the content already, but for the token that it is made with.
    const contentHash = checked.signature;
    return { event, delivery: await deliver({ uuid, contentHash, event, authTokenIndex }) };
  }

  function refuse(
    refusal: WebhookError,
    req: IncomingMessage,
    res: ServerResponse,
    next?: (error?: unknown) => void,
  ): void {
    if (settings.forwardErrors && next !== undefined) {
      boundRest(req, settings.bodyTimeoutMs);
      next(refusal);
    } else {
      sendSafely(() => sendAnswer(req, res, refusal, settings), res);
    }
  }

  /** A library that has replaced a method of `res` may throw in it. */
  function sendSafely(send: () => void, res: ServerResponse): void {
    try {
      send();
    } catch (error) {
      reports.error(toWebhookError(error));
      res.destroy();
    }
  }

  function track<Value>(work: Promise<Value>): Promise<Value> {
    running.add(work);
    const forget = () => running.delete(work);
    work.then(forget, forget);
    return work;
  }

  async function drain(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running);
    challenges.close();
  }

  const methods: Omit<PushWebhooks, "publicUrl"> = {
    on: chain(registry.on),
    off: chain(registry.off),
    onUnhandled: chain(registry.onUnhandled),
    onError: chain(reports.onError),
    onRejected: chain(reports.onRejected),
    waitForChallenge: queue?.waitForChallenge ?? challenges.wait,
    handle,
    close: () => (closed ??= drain()),
    handledTypes: registry.listHandledTypes,
  };
  // Not enumerable and an accessor, so that util.inspect does not show the user information of the URL.
  const push = Object.defineProperty(Object.assign(pushWebhooksMiddleware, methods), "publicUrl", {
    get: () => settings.publicUrl,
  }) as PushWebhooks;

  function chain<Args extends unknown[]>(register: (...args: Args) => void) {
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
