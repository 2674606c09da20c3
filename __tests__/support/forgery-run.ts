/** Runs of the generators of foreign texts and of genuine requests through `verifyPushRequest`. */
import { verifyPushRequest, type VerifyOptions } from "express-push-verification";
import { createRandom } from "./attacker-texts";
import { chooseForeignText, chooseForgery, chooseGenuine, TOKEN, URL_HERE } from "./foreign-texts";

export const OPTIONS: VerifyOptions = { authToken: TOKEN, publicUrl: URL_HERE };
export const WITH_GET: VerifyOptions = { ...OPTIONS, methods: ["POST", "GET"] };

const REQUIRED = ["account_sid", "service_sid", "type", "uuid"];

/** How many texts of other products were tried. */
export interface ForgeryCount {
  texts: number;
  /** Texts that an attacker can send to the receiver as a request with a matching signature. */
  requests: number;
  /** Those whose parameters are a complete event: only the check of its text rejects them. */
  events: number;
  accepted: string[];
}

/** Has other products sign texts, and sends each as an event. */
export async function countForgeries(
  texts: number,
  seed: number,
  options: VerifyOptions,
): Promise<ForgeryCount> {
  const random = createRandom(seed);
  const count: ForgeryCount = { texts, requests: 0, events: 0, accepted: [] };
  for (let run = 0; run < texts; run++) {
    const { text } = chooseForeignText(random);
    const forgery = chooseForgery(text, random);
    if (forgery === undefined) continue;
    try {
      await verifyPushRequest(forgery, options);
      count.accepted.push(`${forgery.method} ${text}`);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "SIGNATURE_MISMATCH" && code !== "METHOD_NOT_ALLOWED") count.requests++;
      if (code === "PAYLOAD_AMBIGUOUS") count.events++;
    }
  }
  return count;
}

/** Sends genuine requests of every version and method; returns those that were not accepted as they are. */
export async function findRefused(requests: number, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const refused: string[] = [];
  for (let run = 0; run < requests; run++) {
    const { event, request } = chooseGenuine(random);
    const received = await verifyPushRequest(request, WITH_GET).catch((error: Error) => error);
    const read = (name: string): unknown => Reflect.get(received, name);
    const isSame =
      REQUIRED.every((name) => name in received) &&
      Object.entries(event).every(
        ([name, value]) => typeof read(name) !== "string" || read(name) === value,
      );
    if (!isSame) refused.push(`${JSON.stringify(received)} ${JSON.stringify(request)}`);
  }
  return refused;
}
