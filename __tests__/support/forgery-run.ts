/** Runs of the generators of foreign texts and of genuine requests through `verifyPushRequest`. */
import {
  verifyPushRequest,
  type Confirm,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { createRandom, UNLUCKY_NAMES } from "./attacker-texts";
import {
  chooseDeclared,
  chooseForeignText,
  chooseForgery,
  chooseGenuine,
  TOKEN,
  URL_HERE,
} from "./foreign-texts";

const OPTIONS = { authToken: TOKEN, publicUrl: URL_HERE };
const WITH_GET = { ...OPTIONS, methods: ["POST", "GET"] } satisfies VerifyOptions;
const BETWEEN = UNLUCKY_NAMES.filter((name) => name !== "webhook_uuid");
const AFTER = UNLUCKY_NAMES.filter((name) => name > "uuid");

/** The settings that no text of another product may deceive. */
export const SETTINGS: readonly (readonly [
  what: string,
  options: VerifyOptions & { publicUrl: string },
])[] = [
  ["the default settings", OPTIONS],
  ["GET accepted", WITH_GET],
  ["declared parameters between type and uuid", { ...WITH_GET, extraParameters: BETWEEN }],
  ["declared parameters after uuid", { ...WITH_GET, extraParameters: AFTER }],
  ["declared parameters at both ends", { ...OPTIONS, extraParameters: ["a", "zone", "event_id"] }],
  ["confirm, for events that the service does not know", { ...WITH_GET, confirm: () => false }],
  ["a publicUrl with a query", { ...WITH_GET, publicUrl: `${URL_HERE}?kind=push` }],
];

/** Has other products sign texts, and sends each as an event. */
export async function countForgeries(
  texts: number,
  seed: number,
  options: VerifyOptions & { publicUrl: string },
) {
  const random = createRandom(seed);
  const target = { url: options.publicUrl, declared: options.extraParameters ?? [] };
  const count = {
    /** Texts that an attacker can send to the receiver as a request with a matching signature. */
    requests: 0,
    /** Those whose parameters are a complete event: only the check of its text rejects them. */
    events: 0,
    accepted: [] as string[],
  };
  for (let run = 0; run < texts; run++) {
    const { text } = chooseForeignText(random, target);
    const forgery = chooseForgery(text, random, target);
    if (forgery === undefined) continue;
    try {
      await verifyPushRequest(forgery, options);
      count.accepted.push(`${forgery.method} ${text}`);
    } catch (error) {
      if (error instanceof TypeError) throw error;
      const { code } = error as WebhookError;
      if (code !== "SIGNATURE_MISMATCH" && code !== "METHOD_NOT_ALLOWED") count.requests++;
      if (code === "PAYLOAD_AMBIGUOUS" || code === "NOT_CONFIRMED") count.events++;
    }
  }
  return count;
}

const REQUIRED = ["account_sid", "service_sid", "type", "uuid"];

/**
 * Sends genuine requests of every version and method, and returns those that were not accepted as
 * they are. Hostile ones have texts of others, and parameters that are not declared; a `confirm` that
 * knows their events has them accepted.
 */
export async function findRejected(requests: number, seed: number, isHostile = false) {
  const random = createRandom(seed);
  const rejected: string[] = [];
  for (let run = 0; run < requests; run++) {
    const extraParameters = isHostile || random() < 0.5 ? [] : chooseDeclared(random);
    const { event, request } = chooseGenuine(random, extraParameters, isHostile);
    const isSame = (received: object) => {
      const read = (name: string): unknown => Reflect.get(received, name);
      const entries = Object.entries(event);
      return (
        REQUIRED.every((name) => name in received) &&
        entries.every(([name, value]) => typeof read(name) !== "string" || read(name) === value)
      );
    };
    const confirm: Confirm | undefined = isHostile ? isSame : undefined;
    const options = { ...WITH_GET, extraParameters, confirm };
    const received = await verifyPushRequest(request, options).catch((error: Error) => error);
    // Two of the names must not be declared together.
    if (received instanceof TypeError) continue;
    // Rightly rejected: an undeclared `source_type` before a declared name can be read as another type.
    const hasOtherType =
      String(Reflect.get(request, "body")).includes("source_type=") &&
      extraParameters.some((name) => name > "type" && name < "uuid");
    if (hasOtherType && Reflect.get(received, "code") === "PAYLOAD_AMBIGUOUS") continue;
    if (!isSame(received)) rejected.push(`${JSON.stringify(received)} ${JSON.stringify(request)}`);
  }
  return rejected;
}
