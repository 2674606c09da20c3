import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { listEventPairs, signRequest, type WebhookRequest } from "../../core/door";
import type { Pair } from "../../kit/pairs";
import { createDigits } from "../../kit/sid";
import { callSafely } from "../../kit/safe-call";
import type { FaultKind, FaultPlan, Faults } from "./faults";
import { sendRequest, type SendError, type WebhookResponse } from "./http-client";
import type { EmulatorSettings } from "../options";
import type { EventFields } from "../resources/entity";
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

/**
 * The sender of webhook requests (section 6.4): one attempt, and `connectionRetries` more when the
 * connection fails; only status 200 is a success. Requests to a webhook are sent in the order of
 * their events; a request does not wait for the response to an earlier one.
 */
export class Deliveries {
  readonly #settings: EmulatorSettings;
  readonly #faults: Faults;
  /** The newest ones, the oldest first. */
  readonly #deliveries: WebhookDelivery[] = [];
  readonly #listeners = new Set<(delivery: WebhookDelivery) => void>();
  /** In the order of their events; each promise resolves when its delivery is finished. */
  readonly #pending = new Map<PendingDelivery, Promise<void>>();
  /** Resolves when the last request to a webhook was sent, by the SID of the webhook. */
  readonly #lastSent = new Map<string, Promise<unknown>>();
  /** How many callers await `settled`. */
  #settling = 0;
  readonly #closing = new AbortController();

  constructor(settings: EmulatorSettings, faults: Faults) {
    this.#settings = settings;
    this.#faults = faults;
    // Each pending delivery adds one listener.
    setMaxListeners(0, this.#closing.signal);
  }

  deliver(webhook: StoredWebhook, fields: EventFields & { type: string }): void {
    if (this.#closing.signal.aborted) return;
    const plan = this.#faults.take(fields.type);
    const sent = this.#signDelivery(webhook, fields, plan);
    const ready = this.#lastSent.get(webhook.sid);
    const turns = Array.from({ length: 1 + (plan.duplicate?.copies ?? 0) }, () => {
      const delivery = { ...sent, request: { ...sent.request }, failures: [] };
      this.#deliveries.push(delivery);
      if (this.#deliveries.length > this.#settings.maxDeliveries) this.#deliveries.shift();
      return new Promise<void>((endTurn) => {
        const one = { delivery, webhookUrl: webhook.webhook_url, plan, endTurn };
        this.#pending.set(one, this.#deliverInTurn(one, ready));
      });
    });
    // Duplicates are sent at the same time, and the next request after all of them.
    this.#lastSent.set(webhook.sid, Promise.all(turns));
  }

  /** The oldest first. */
  list(): WebhookDelivery[] {
    return [...this.#deliveries];
  }

  onDelivery(listener: (delivery: WebhookDelivery) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves when no delivery is pending. */
  async settled(): Promise<void> {
    this.#settling++;
    for (const one of this.#pending.keys()) {
      if (one.wait !== undefined && !this.#hasLater(one)) one.wait.abort();
    }
    // Promise.race would add a listener to each pending delivery in each round.
    while (this.#pending.size > 0) await Promise.all(this.#pending.values());
    this.#settling--;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#pending.values());
  }

  #signDelivery(
    webhook: StoredWebhook,
    fields: EventFields & { type: string },
    plan: FaultPlan,
  ): WebhookDelivery {
    const type = plan["unknown-event-type"]?.type ?? fields.type;
    const uuid = crypto.randomUUID();
    const params = [
      ...listEventPairs(webhook.version, { ...fields, uuid, type }),
      ...Object.entries(plan["extra-parameters"]?.params ?? {}),
    ];
    const request = signRequest({
      authToken: this.#chooseToken(plan),
      webhookUrl: webhook.webhook_url,
      method: webhook.webhook_method,
      signatureHeader: this.#settings.signatureHeader,
      contentType: this.#settings.contentType,
      params,
    });
    const added = { "X-Idempotency-Token": uuid };
    return {
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
  }

  #chooseToken(plan: FaultPlan): string {
    if (plan["wrong-signature"] !== undefined) return createDigits();
    const { authToken, previousAuthToken } = this.#settings;
    return plan["old-token"] === undefined ? authToken : previousAuthToken;
  }

  async #deliverInTurn(one: PendingDelivery, ready: Promise<unknown> | undefined): Promise<void> {
    await ready;
    const { delivery, plan } = one;
    const { signal } = this.#closing;
    if (plan.delay !== undefined) {
      one.endTurn();
      await sleep(plan.delay.delay_ms, undefined, { signal }).catch(() => "aborted");
    }
    if (plan.reorder !== undefined) {
      one.endTurn();
      await this.#waitForLater(one, plan.reorder.delay_ms);
    }
    const startMs = performance.now();
    await this.#sendWithRetries(one);
    delivery.durationMs = performance.now() - startMs;
    delivery.status = delivery.response?.status === 200 ? "succeeded" : "failed";
    one.endTurn();
    for (const earlier of this.#pending.keys()) {
      if (earlier === one) break;
      if (isSameWebhook(earlier, one)) earlier.wait?.abort();
    }
    this.#pending.delete(one);
    for (const listener of this.#listeners) callSafely(listener, () => listener(delivery));
  }

  #hasLater(one: PendingDelivery): boolean {
    const all = [...this.#pending.keys()];
    const later = all.slice(all.indexOf(one) + 1);
    return later.some((other) => isSameWebhook(other, one) && other.wait === undefined);
  }

  /** Waits until a later delivery to the webhook is finished; while settling, only if there is one. */
  async #waitForLater(one: PendingDelivery, timeoutMs: number): Promise<void> {
    if (this.#settling > 0 && !this.#hasLater(one)) return;
    one.wait = new AbortController();
    const signal = AbortSignal.any([one.wait.signal, this.#closing.signal]);
    await sleep(timeoutMs, undefined, { signal }).catch(() => "ended");
    one.wait = undefined;
  }

  async #sendWithRetries({ delivery, webhookUrl, plan, endTurn }: PendingDelivery) {
    const dropFirst = plan["drop-connection"] !== undefined;
    const url = withUserInfo(delivery.request.url, webhookUrl);
    const deadlineAtMs = performance.now() + this.#settings.totalTimeoutMs;
    for (let retriesLeft = this.#settings.connectionRetries; ; retriesLeft--) {
      delivery.attempts++;
      try {
        delivery.response = await sendRequest(
          { ...delivery.request, url },
          {
            connectTimeoutMs: this.#settings.connectTimeoutMs,
            timeoutMs: Math.max(1, Math.round(deadlineAtMs - performance.now())),
            dropConnection: dropFirst && delivery.attempts === 1,
            signal: this.#closing.signal,
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
}

function isSameWebhook(a: PendingDelivery, b: PendingDelivery): boolean {
  return a.delivery.webhook_sid === b.delivery.webhook_sid;
}

/** Adds the user info of the webhook_url, which is neither signed nor kept in a delivery. */
function withUserInfo(url: string, webhookUrl: string): string {
  const [userInfo = ""] = /(?<=^[^:]+:\/\/)[^/?#]*@/.exec(webhookUrl) ?? [];
  return url.replace("://", () => `://${userInfo}`);
}
