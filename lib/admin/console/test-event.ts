import { once } from "node:events";
import * as z from "zod";
import { createSid } from "../../kit/sid";
import { INVENTED_PREFIXES, listEventPairs, type ReceiverInspection } from "../../core/door";
import { PUSH_EVENT_TYPES, type PushWebhooks } from "../../index";
import { nameFailure } from "../rehearsal/probe";

/** The schema of a {@link TestEventChoice}. */
export const testEventSchema = z.strictObject({
  type: z.enum(PUSH_EVENT_TYPES),
  /** `"direct"`: to the receiver in this process. `"network"`: to its publicUrl. */
  via: z.enum(["direct", "network"]).default("direct"),
});

/** A test event to send. */
export type TestEventChoice = z.output<typeof testEventSchema>;

const TIMEOUT_MS = 15_000;

/** A receiver accepts them; the user and the SIDs do not exist. */
function createTestParams(
  uuid: string,
  type: TestEventChoice["type"],
  { allowedAccountSids, allowedServiceSids }: ReceiverInspection,
) {
  const zeros = "0".repeat(32);
  return listEventPairs("v2", {
    uuid,
    type,
    account_sid: allowedAccountSids[0] ?? `AC${zeros}`,
    service_sid: allowedServiceSids[0] ?? `VA${zeros}`,
    entity_identity: "console-test-event",
    factor_sid: `YF${zeros}`,
    factor_type: "push",
    factor_friendly_name: "Test event of the console",
    factor_metadata: "{}",
    // A new SID each time, because the first outcome of a challenge stays.
    challenge_sid: createSid("YC"),
    challenge_details: '{"message":"Test event of the console","fields":[]}',
    challenge_metadata: "{}",
  });
}

/** Signs and sends a test event; without a response the result has a `failure`. */
export async function sendTestEvent(
  { type, via }: TestEventChoice,
  push: PushWebhooks,
  inspection: ReceiverInspection,
  sign: NonNullable<ReceiverInspection["signRequest"]>,
) {
  const uuid = `${INVENTED_PREFIXES.console}${crypto.randomUUID()}`;
  const { url, ...signed } = sign(createTestParams(uuid, type, inspection));
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  // The service follows no redirect either.
  const request = new Request(url, {
    ...signed,
    body: signed.body ?? null,
    redirect: "manual",
    signal,
  });
  const expiry = once(signal, "abort").then((): never => signal.throwIfAborted() as never);
  expiry.catch(() => {});
  const startMs = performance.now();
  const since = () => performance.now() - startMs;
  try {
    const sending = via === "direct" ? push.fetch(request) : fetch(request);
    const { status, body } = await Promise.race([sending, expiry]);
    await body?.cancel();
    return { status, durationMs: since(), failure: undefined, uuid };
  } catch (error) {
    const failure = nameFailure(error, TIMEOUT_MS);
    return { status: undefined, durationMs: since(), failure, uuid };
  }
}
