import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { signCall, type SignedCall } from "../call";
import { listCallParams, type CallFields } from "../call-parameters";
import type { Pair } from "../form";
import { runSafely } from "../listener";
import type { Faults, FaultKind, FaultPlan } from "./faults";
import { createLanes, type Turn } from "./lanes";
import { readUserInfo, sendCall, type CallResponse, type SendFailure } from "../send";
import { createAuthToken, createUuid } from "./sids";
import type { EmulatorSettings } from "./options";
import type { Webhook } from "./webhook";

/** One call to one webhook, as it was sent and answered. */
export interface Delivery {
  /** Unique for each call, and equal over its attempts and duplicates. */
  uuid: string;
  type: string;
  webhook_sid: string;
  /** `"succeeded"` after status 200, `"failed"` after any other end. */
  status: "pending" | "succeeded" | "failed";
  request: DeliveryRequest;
  /** The answer, when one came. */
  response: CallResponse | undefined;
  /** How often it was sent. */
  attempts: number;
  /** Why each attempt without an answer had none, in order. */
  failures: { code: string; message: string }[];
  /** From the start of the first attempt to the end of the last, without the delay of a fault. */
  durationMs: number | undefined;
  /** What was made to go wrong with it. */
  faults: FaultKind[];
}

/** What was sent. */
export interface DeliveryRequest extends SignedCall {
  params: readonly Pair[];
}

/** Told of every delivery when it is finished. */
export type DeliveryListener = (delivery: Delivery) => void;

/** Sends calls and remembers them. */
export interface Deliveries {
  /** Calls a webhook. */
  deliver(webhook: Webhook, fields: CallFields & { type: string }): void;
  /** The newest deliveries, oldest first. */
  list(): Delivery[];
  onDelivery(listener: DeliveryListener): void;
  /** Resolves when nothing is on its way any more. */
  settled(): Promise<void>;
  /** Ends what is on its way. */
  close(): Promise<void>;
}

/**
 * Makes the sender of calls (specification, section 6.4): one attempt, and another when the
 * connection failed; only status 200 is success.
 */
export function createDeliveries(settings: EmulatorSettings, faults: Faults): Deliveries {
  const deliveries: Delivery[] = [];
  const listeners = new Set<DeliveryListener>();
  const running = new Set<Promise<void>>();
  const lanes = createLanes();
  const closing = new AbortController();
  // One for each call on its way.
  setMaxListeners(0, closing.signal);

  function deliver(webhook: Webhook, fields: CallFields & { type: string }): void {
    if (closing.signal.aborted) return;
    const plan = faults.take(fields.type);
    const type = plan["unknown-event-type"]?.type ?? fields.type;
    const uuid = createUuid();
    const params = [
      ...listCallParams(webhook.version, { ...fields, uuid }).map(([name, value]): Pair =>
        name === "type" ? [name, type] : [name, value],
      ),
      ...Object.entries(plan["extra-parameters"]?.params ?? {}),
    ];
    const call = createCall(webhook, params, plan, uuid);
    const copies = 1 + (plan.duplicate?.copies ?? 0);
    const auth = readUserInfo(webhook.webhook_url);
    const turns = Array.from({ length: copies }, () => lanes.enter(webhook.sid));
    // Duplicates go together: the first one's turn is that of all.
    for (const turn of turns) {
      const delivery: Delivery = {
        uuid,
        type,
        webhook_sid: webhook.sid,
        status: "pending",
        request: { ...call, headers: { ...call.headers }, params },
        response: undefined,
        attempts: 0,
        failures: [],
        durationMs: undefined,
        faults: Object.keys(plan) as FaultKind[],
      };
      remember(delivery);
      const work = run(
        delivery,
        { ...turn, arrived: turns[0]?.arrived ?? turn.arrived },
        plan,
        auth,
      );
      running.add(work);
      void work.then(() => running.delete(work));
    }
  }

  function createCall(webhook: Webhook, params: Pair[], plan: FaultPlan, uuid: string): SignedCall {
    const call = signCall({
      authToken: chooseToken(plan),
      webhookUrl: webhook.webhook_url,
      method: webhook.webhook_method,
      signatureHeader: settings.signatureHeader,
      contentType: settings.contentType,
      params,
    });
    const headers = {
      ...call.headers,
      "X-Idempotency-Token": uuid,
      "User-Agent": "PushWebhook/1.0",
    };
    return { ...call, headers };
  }

  function chooseToken(plan: FaultPlan): string {
    if (plan["wrong-signature"] !== undefined) return createAuthToken();
    return plan["old-token"] === undefined ? settings.authToken : settings.previousAuthToken;
  }

  async function run(
    delivery: Delivery,
    turn: Turn,
    plan: FaultPlan,
    auth: string | undefined,
  ): Promise<void> {
    await turn.arrived;
    if (plan.delay !== undefined) {
      turn.pass();
      await sleep(plan.delay.delay_ms, undefined, { signal: closing.signal }).catch(() => "closed");
    }
    if (plan.reorder !== undefined) {
      turn.pass();
      await turn.overtaken(plan.reorder.delay_ms, closing.signal);
    }
    const startMs = performance.now();
    await attempt(delivery, turn, plan["drop-connection"] !== undefined, auth);
    delivery.durationMs = performance.now() - startMs;
    delivery.status = delivery.response?.status === 200 ? "succeeded" : "failed";
    turn.finish();
    for (const listener of listeners) void runSafely(() => listener(delivery));
  }

  async function attempt(
    delivery: Delivery,
    turn: Turn,
    dropFirst: boolean,
    auth: string | undefined,
  ): Promise<void> {
    const deadlineMs = performance.now() + settings.totalTimeoutMs;
    for (let retriesLeft = settings.connectionRetries; ; retriesLeft--) {
      delivery.attempts++;
      try {
        delivery.response = await sendCall(delivery.request, {
          connectTimeoutMs: settings.connectTimeoutMs,
          timeoutMs: Math.max(1, deadlineMs - performance.now()),
          dropConnection: dropFirst && delivery.attempts === 1,
          auth,
          signal: closing.signal,
          onSent: turn.pass,
        });
        return;
      } catch (error) {
        const { code, message, isConnectionFailure } = error as SendFailure;
        delivery.failures.push({ code, message });
        if (!isConnectionFailure || retriesLeft <= 0) return;
      }
    }
  }

  function remember(delivery: Delivery): void {
    deliveries.push(delivery);
    if (deliveries.length > settings.maxDeliveries) deliveries.shift();
  }

  async function settled(): Promise<void> {
    const stop = lanes.letGo();
    // Not race: each round of it would cost as much as all that run.
    while (running.size > 0) await Promise.all(running);
    stop();
  }

  return {
    deliver,
    list: () => [...deliveries],
    onDelivery(listener) {
      listeners.add(listener);
    },
    settled,
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}
