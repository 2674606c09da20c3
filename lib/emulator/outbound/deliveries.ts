import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type EventParameters,
  listEventPairs,
  type Pair,
  signRequest,
  type WebhookRequest,
} from "../../core/door";
import { createDigits } from "../../kit/sid";
import { callSafely } from "../../kit/safe-call";
import type { FaultKind, FaultPlan, Faults } from "./faults";
import { sendRequest, type SendError, type WebhookResponse } from "./http-client";
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
  /** Request with its parameters. */
  request: WebhookRequest & { params: readonly Pair[] };
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

interface PendingDelivery {
  delivery: WebhookDelivery;
  webhookUrl: string;
  plan: FaultPlan;
  /** Lets the next request to the webhook be sent: this one was sent, or gave up its turn. */
  endTurn: () => void;
  /** Ends the wait for a later delivery; undefined while the delivery does not wait. */
  wait?: AbortController | undefined;
}

/** Sender of webhook requests. */
export type Deliveries = ReturnType<typeof createDeliveries>;

/**
 * Creates the sender of webhook requests (section 6.4): one attempt, and `connectionRetries` more
 * when the connection fails; only status 200 is a success. Requests to a webhook are sent in the
 * order of their events; a request does not wait for the response to an earlier one. Keeps the newest
 * deliveries.
 */
export function createDeliveries(settings: EmulatorSettings, faults: Faults) {
  const deliveries: WebhookDelivery[] = [];
  const listeners = new Set<(delivery: WebhookDelivery) => void>();
  /** In the order of their events; each promise resolves when its delivery is finished. */
  const pending = new Map<PendingDelivery, Promise<void>>();
  /** Resolves when the last request to a webhook was sent. */
  const lastSent = new Map<string, Promise<unknown>>();
  let settling = 0;
  const closing = new AbortController();
  // Each pending delivery adds one listener.
  setMaxListeners(0, closing.signal);

  function deliver(webhook: StoredWebhook, fields: EventParameters & { type: string }): void {
    if (closing.signal.aborted) return;
    const plan = faults.take(fields.type);
    const type = plan["unknown-event-type"]?.type ?? fields.type;
    const uuid = crypto.randomUUID();
    const params = [
      ...listEventPairs(webhook.version, { ...fields, uuid, type }),
      ...Object.entries(plan["extra-parameters"]?.params ?? {}),
    ];
    const request = signRequest({
      authToken: chooseToken(plan),
      webhookUrl: webhook.webhook_url,
      method: webhook.webhook_method,
      signatureHeader: settings.signatureHeader,
      contentType: settings.contentType,
      params,
    });
    const added = { "X-Idempotency-Token": uuid, "User-Agent": "PushWebhook/1.0" };
    const ready = lastSent.get(webhook.sid);
    const sent = Array.from({ length: 1 + (plan.duplicate?.copies ?? 0) }, () => {
      const delivery: WebhookDelivery = {
        uuid,
        type,
        webhook_sid: webhook.sid,
        status: "pending",
        request: { ...request, headers: { ...request.headers, ...added }, params },
        response: undefined,
        attempts: 0,
        failures: [],
        durationMs: undefined,
        faults: Object.keys(plan) as FaultKind[],
      };
      deliveries.push(delivery);
      if (deliveries.length > settings.maxDeliveries) deliveries.shift();
      return new Promise<void>((endTurn) => {
        const one = { delivery, webhookUrl: webhook.webhook_url, plan, endTurn };
        pending.set(one, deliverInTurn(one, ready));
      });
    });
    // Duplicates are sent at the same time, and the next request after all of them.
    lastSent.set(webhook.sid, Promise.all(sent));
  }

  function chooseToken(plan: FaultPlan): string {
    if (plan["wrong-signature"] !== undefined) return createDigits();
    return plan["old-token"] === undefined ? settings.authToken : settings.previousAuthToken;
  }

  async function deliverInTurn(
    one: PendingDelivery,
    ready: Promise<unknown> | undefined,
  ): Promise<void> {
    await ready;
    const { delivery, plan } = one;
    const { signal } = closing;
    if (plan.delay !== undefined) {
      one.endTurn();
      await sleep(plan.delay.delay_ms, undefined, { signal }).catch(() => "aborted");
    }
    if (plan.reorder !== undefined) {
      one.endTurn();
      await waitForLater(one, plan.reorder.delay_ms);
    }
    const startMs = performance.now();
    await sendWithRetries(one);
    delivery.durationMs = performance.now() - startMs;
    delivery.status = delivery.response?.status === 200 ? "succeeded" : "failed";
    one.endTurn();
    for (const earlier of pending.keys()) {
      if (earlier === one) break;
      if (isSameWebhook(earlier, one)) earlier.wait?.abort();
    }
    pending.delete(one);
    for (const listener of listeners) void callSafely(listener, () => listener(delivery));
  }

  function hasLater(one: PendingDelivery): boolean {
    const all = [...pending.keys()];
    const later = all.slice(all.indexOf(one) + 1);
    return later.some((other) => isSameWebhook(other, one) && other.wait === undefined);
  }

  /** Waits until a later delivery to the webhook is finished; while settling, only if there is one. */
  async function waitForLater(one: PendingDelivery, timeoutMs: number): Promise<void> {
    if (settling > 0 && !hasLater(one)) return;
    one.wait = new AbortController();
    const signal = AbortSignal.any([one.wait.signal, closing.signal]);
    await sleep(timeoutMs, undefined, { signal }).catch(() => "ended");
    one.wait = undefined;
  }

  async function sendWithRetries({ delivery, webhookUrl, plan, endTurn }: PendingDelivery) {
    const dropFirst = plan["drop-connection"] !== undefined;
    const url = withUserInfo(delivery.request.url, webhookUrl);
    const deadlineAtMs = performance.now() + settings.totalTimeoutMs;
    for (let retriesLeft = settings.connectionRetries; ; retriesLeft--) {
      delivery.attempts++;
      try {
        delivery.response = await sendRequest(
          { ...delivery.request, url },
          {
            connectTimeoutMs: settings.connectTimeoutMs,
            timeoutMs: Math.max(1, Math.round(deadlineAtMs - performance.now())),
            dropConnection: dropFirst && delivery.attempts === 1,
            signal: closing.signal,
            onSent: endTurn,
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

  async function settled(): Promise<void> {
    settling++;
    for (const one of pending.keys()) {
      if (one.wait !== undefined && !hasLater(one)) one.wait.abort();
    }
    // Promise.race would add a listener to each pending delivery in each round.
    while (pending.size > 0) await Promise.all(pending.values());
    settling--;
  }

  return {
    deliver,
    list: () => [...deliveries],
    onDelivery: (listener: (delivery: WebhookDelivery) => void) => void listeners.add(listener),
    settled,
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(pending.values());
    },
  };
}

function isSameWebhook(a: PendingDelivery, b: PendingDelivery): boolean {
  return a.delivery.webhook_sid === b.delivery.webhook_sid;
}

/** Adds the user info of the webhook_url, which is neither signed nor kept in a delivery. */
function withUserInfo(url: string, webhookUrl: string): string {
  const [userInfo = ""] = /(?<=^[^:]+:\/\/)[^/?#]*@/.exec(webhookUrl) ?? [];
  return url.replace("://", () => `://${userInfo}`);
}
