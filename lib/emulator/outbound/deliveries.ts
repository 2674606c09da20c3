import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { signRequest, type WebhookRequest } from "../../signature/signed-request";
import { listEventPairs, type EventParameters } from "../../form/parameters";
import type { Pair } from "../../form/form";
import { callSafely } from "../../observability/safe-call";
import type { FaultKind, FaultPlan, Faults } from "./faults";
import { createDeliveryOrder, type Turn } from "./delivery-order";
import { sendRequest, type SendError, type WebhookResponse } from "./http-client";
import { createAuthToken } from "../resources/sids";
import type { EmulatorSettings } from "../options";
import type { StoredWebhook } from "../resources/webhooks";

/** Delivery of one event to one webhook, with all its attempts. Changes until it is finished. */
export interface WebhookDelivery {
  /** Unique for each event and webhook; equal for all attempts and duplicates. */
  uuid: string;
  type: string;
  webhook_sid: string;
  /** `"succeeded"` after a response with status 200, `"failed"` after any other end. */
  status: "pending" | "succeeded" | "failed";
  request: WebhookDeliveryRequest;
  /** Response of the receiver; undefined when there was none. */
  response: WebhookResponse | undefined;
  /** Number of requests that were sent. */
  attempts: number;
  /** Failures of the attempts without a response, in order; for codes see {@link SendError}. */
  failures: { code: string; message: string }[];
  /** Time from the first attempt to the end of the last, in milliseconds; no delay of a fault. */
  durationMs: number | undefined;
  /** Faults that happened to it. */
  faults: FaultKind[];
}

/** Request of a delivery, with its parameters. */
export interface WebhookDeliveryRequest extends WebhookRequest {
  params: readonly Pair[];
}

/** Receives each delivery when it is finished. */
export type WebhookDeliveryListener = (delivery: WebhookDelivery) => void;

/** Sender of webhook requests. */
export type Deliveries = ReturnType<typeof createDeliveries>;

/**
 * Creates the sender of webhook requests (section 6.4): one attempt, and `connectionRetries` more
 * when the connection fails; only status 200 is a success. Keeps the newest deliveries.
 */
export function createDeliveries(settings: EmulatorSettings, faults: Faults) {
  const deliveries: WebhookDelivery[] = [];
  const listeners = new Set<WebhookDeliveryListener>();
  const running = new Set<Promise<void>>();
  const order = createDeliveryOrder();
  const closing = new AbortController();
  // Each pending delivery adds one listener.
  setMaxListeners(0, closing.signal);

  /** Delivers an event to a webhook. */
  function deliver(webhook: StoredWebhook, fields: EventParameters & { type: string }): void {
    if (closing.signal.aborted) return;
    const plan = faults.take(fields.type);
    const type = plan["unknown-event-type"]?.type ?? fields.type;
    const uuid = crypto.randomUUID();
    const params = [
      ...listEventPairs(webhook.version, { ...fields, uuid }).map(([name, value]): Pair =>
        name === "type" ? [name, type] : [name, value],
      ),
      ...Object.entries(plan["extra-parameters"]?.params ?? {}),
    ];
    const request = createRequest(webhook, params, plan, uuid);
    const copies = 1 + (plan.duplicate?.copies ?? 0);
    const turns = Array.from({ length: copies }, () => order.add(webhook.sid));
    // Duplicates are sent at the same time: all wait for the turn of the first.
    for (const turn of turns) {
      const delivery: WebhookDelivery = {
        uuid,
        type,
        webhook_sid: webhook.sid,
        status: "pending",
        request: { ...request, headers: { ...request.headers }, params },
        response: undefined,
        attempts: 0,
        failures: [],
        durationMs: undefined,
        faults: Object.keys(plan) as FaultKind[],
      };
      deliveries.push(delivery);
      if (deliveries.length > settings.maxDeliveries) deliveries.shift();
      const ready = turns[0]?.ready ?? turn.ready;
      const work = deliverInTurn(delivery, webhook.webhook_url, { ...turn, ready }, plan);
      running.add(work);
      void work.then(() => running.delete(work));
    }
  }

  function createRequest(webhook: StoredWebhook, params: Pair[], plan: FaultPlan, uuid: string) {
    const request = signRequest({
      authToken: chooseToken(plan),
      webhookUrl: webhook.webhook_url,
      method: webhook.webhook_method,
      signatureHeader: settings.signatureHeader,
      contentType: settings.contentType,
      params,
    });
    const headers = {
      ...request.headers,
      "X-Idempotency-Token": uuid,
      "User-Agent": "PushWebhook/1.0",
    };
    return { ...request, headers };
  }

  function chooseToken(plan: FaultPlan): string {
    if (plan["wrong-signature"] !== undefined) return createAuthToken();
    return plan["old-token"] === undefined ? settings.authToken : settings.previousAuthToken;
  }

  async function deliverInTurn(
    delivery: WebhookDelivery,
    webhookUrl: string,
    turn: Turn,
    plan: FaultPlan,
  ): Promise<void> {
    await turn.ready;
    if (plan.delay !== undefined) {
      turn.end();
      const { signal } = closing;
      await sleep(plan.delay.delay_ms, undefined, { signal }).catch(() => "aborted");
    }
    if (plan.reorder !== undefined) {
      turn.end();
      await turn.waitForLater(plan.reorder.delay_ms, closing.signal);
    }
    const startMs = performance.now();
    await sendWithRetries(delivery, webhookUrl, turn, plan["drop-connection"] !== undefined);
    delivery.durationMs = performance.now() - startMs;
    delivery.status = delivery.response?.status === 200 ? "succeeded" : "failed";
    turn.finish();
    for (const listener of listeners) void callSafely(listener, () => listener(delivery));
  }

  async function sendWithRetries(
    delivery: WebhookDelivery,
    webhookUrl: string,
    turn: Turn,
    dropFirst: boolean,
  ): Promise<void> {
    const url = withUserInfo(delivery.request.url, webhookUrl);
    const deadlineMs = performance.now() + settings.totalTimeoutMs;
    for (let retriesLeft = settings.connectionRetries; ; retriesLeft--) {
      delivery.attempts++;
      try {
        delivery.response = await sendRequest(
          { ...delivery.request, url },
          {
            connectTimeoutMs: settings.connectTimeoutMs,
            timeoutMs: Math.max(1, Math.round(deadlineMs - performance.now())),
            dropConnection: dropFirst && delivery.attempts === 1,
            signal: closing.signal,
            onSent: turn.end,
          },
        );
        return;
      } catch (error) {
        const { code, message, isConnectionFailure } = error as SendError;
        delivery.failures.push({ code, message });
        if (!isConnectionFailure || retriesLeft <= 0) return;
      }
    }
  }

  /** Resolves when no delivery is pending. */
  async function settled(): Promise<void> {
    const allowWaiting = order.stopWaiting();
    // Promise.race would add a listener to each pending delivery in each round.
    while (running.size > 0) await Promise.all(running);
    allowWaiting();
  }

  return {
    deliver,
    /** Lists the newest deliveries, the oldest first. */
    list: () => [...deliveries],
    onDelivery: (listener: WebhookDeliveryListener) => void listeners.add(listener),
    settled,
    /** Aborts the pending deliveries. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(running);
    },
  };
}

/** Adds the user info of the webhook_url, which is neither signed nor kept in a delivery. */
function withUserInfo(url: string, webhookUrl: string): string {
  const [userInfo = ""] = /(?<=^[^:]+:\/\/)[^/?#]*@/.exec(webhookUrl) ?? [];
  return url.replace("://", () => `://${userInfo}`);
}
