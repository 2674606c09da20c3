import {
  pushWebhooks,
  type Logger,
  type PushEvent,
  type PushWebhooksOptions,
  type UnknownPushEvent,
  type WebhookError,
  type WebhookErrorCode,
} from "express-push-verification";
import { AUTH_TOKEN, PUBLIC_URL, toWebRequest, type TestRequest } from "./webhook-requests";

export const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** A logger each of whose levels is one function. */
export const loggerOf = (log: Logger["warn"]) => ({ debug: log, info: log, warn: log, error: log });

/** Creates a receiver of POST and GET that records its events, rejections (`errors`, and their codes) and failures. */
export function createReceiver(options: Partial<PushWebhooksOptions> = {}) {
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: PUBLIC_URL,
    methods: ["POST", "GET"],
    logger: silent,
    ...options,
  });
  const events: (PushEvent | UnknownPushEvent)[] = [];
  const errors: WebhookError[] = [];
  const rejected: WebhookErrorCode[] = [];
  const failed: WebhookErrorCode[] = [];
  push.onAny((event) => void events.push(event));
  push.onRejected((error) => {
    errors.push(error);
    rejected.push(error.code);
  });
  push.onError((error) => void failed.push(error.code));
  /** Passes a request to `push.fetch`; returns the status of the response. */
  const receive = async (request: TestRequest) => (await push.fetch(toWebRequest(request))).status;
  return { push, events, errors, rejected, failed, receive };
}
