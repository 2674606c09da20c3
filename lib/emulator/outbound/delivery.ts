import type { Pair } from "../../form/form";
import type { WebhookRequest } from "../../signature/signed-request";
import type { FaultKind } from "./fault";
import type { WebhookResponse } from "./http-client";

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
