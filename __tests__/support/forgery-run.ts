/** Runs of the generators of foreign texts and of genuine requests through `verifyPushRequest`. */
import { verifyPushRequest, type VerifyOptions } from "express-push-verification";
import { confirmWith, createAdminClient } from "express-push-verification/admin";
import { createEmulator } from "express-push-verification/emulator";
import { signedRequest } from "express-push-verification/testing";
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

const NOT_FOUND = new Response(JSON.stringify({ code: 20404, message: "Not found" }), {
  status: 404,
  headers: { "content-type": "application/json" },
});
const NEVER_KNOWS = createAdminClient({
  accountUrl: "https://api.example.test",
  verifyUrl: "https://verify.example.test",
  accountSid: `AC${"0".repeat(32)}`,
  serviceSid: `VA${"0".repeat(32)}`,
  password: TOKEN,
  fetch: async () => NOT_FOUND.clone(),
});
// Each event is one of the account and the service of its client.
const WITH_CONFIRM = {
  ...WITH_GET,
  confirm: (event, context) => {
    const { account_sid: accountSid, service_sid: serviceSid } = event;
    return confirmWith({ ...NEVER_KNOWS, accountSid, serviceSid })(event, context);
  },
} satisfies VerifyOptions;

/** The settings that no text of another product may deceive. */
export const SETTINGS: readonly (readonly [
  what: string,
  options: VerifyOptions & { publicUrl: string },
])[] = [
  ["the default settings", OPTIONS],
  ["GET accepted", WITH_GET],
  [
    "declared parameters between type and uuid",
    { ...WITH_GET, extraParameters: UNLUCKY_NAMES.filter((name) => name !== "webhook_uuid") },
  ],
  [
    "declared parameters after uuid",
    { ...WITH_GET, extraParameters: UNLUCKY_NAMES.filter((name) => name > "uuid") },
  ],
  ["declared parameters at both ends", { ...OPTIONS, extraParameters: ["a", "zone", "event_id"] }],
  ["confirmWith, for challenges that the service does not know", WITH_CONFIRM],
  ["a publicUrl with a query", { ...WITH_GET, publicUrl: `${URL_HERE}?kind=push` }],
];

const REQUIRED = ["account_sid", "service_sid", "type", "uuid"];

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
      const { code } = error as { code?: string };
      if (code !== "SIGNATURE_MISMATCH" && code !== "METHOD_NOT_ALLOWED") count.requests++;
      if (code === "PAYLOAD_AMBIGUOUS" || code === "NOT_CONFIRMED") count.events++;
    }
  }
  return count;
}

const HOSTILE_TEXTS = [
  "AccountSid=",
  "AccountSidAC",
  "bodySHA256=",
  "account_sid=A",
  "entity_identity",
  "factor_friendly_name",
  "factor_sidYF",
  "service_sidVA",
  "typechallenge.approveduuid",
  "zone",
  " ",
];
const ADDITIONS = ["event_id", "entity_sid", "expiration_date", "version", "webhook_sid", "a"];

/**
 * Sends genuine events of challenges that an emulator knows, with texts of others and with
 * parameters that are not declared; returns those that `confirmWith` did not have accepted.
 */
export async function findUnconfirmed(requests: number, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const hostile = () => Array.from({ length: below(4) }, () => HOSTILE_TEXTS[below(11)]).join("");
  const emulator = createEmulator();
  await emulator.listen(0);
  const { accountSid, serviceSid, authToken: password, url } = emulator;
  const urls = { accountUrl: url, verifyUrl: url };
  const client = createAdminClient({ ...urls, accountSid, serviceSid, password });
  const options = { ...WITH_GET, confirm: confirmWith(client) };
  const rejected: string[] = [];
  try {
    for (let run = 0; run < requests; run++) {
      const entity_identity = `user-${run}${hostile()}`;
      const factor = emulator.createFactor({ entity_identity });
      emulator.verifyFactor(factor.sid);
      const challenge = emulator.createChallenge({ factor_sid: factor.sid });
      const isApproved = below(2) === 0;
      if (isApproved) emulator.approveChallenge(challenge.sid);
      else emulator.denyChallenge(challenge.sid);
      const added = ADDITIONS.filter(() => below(4) === 0);
      const extraParams = Object.fromEntries(added.map((name) => [name, hostile()]));
      const request = signedRequest(
        OPTIONS,
        isApproved ? "challenge.approved" : "challenge.denied",
        {
          account_sid: accountSid,
          service_sid: serviceSid,
          entity_identity,
          factor_sid: factor.sid,
          factor_friendly_name: `x${hostile()}`,
          challenge_sid: challenge.sid,
          challenge_details: JSON.stringify({ message: hostile(), fields: [], date: null }),
          challenge_hidden_details: JSON.stringify({ agent: hostile() }),
        },
        {
          method: below(5) === 0 ? "GET" : "POST",
          extraParams,
        },
      );
      const event = await verifyPushRequest(request, options).catch((error: Error) => error);
      const isSame = "uuid" in event && Reflect.get(event, "challenge_sid") === challenge.sid;
      if (!isSame) rejected.push(`${JSON.stringify(event)} ${JSON.stringify(request)}`);
    }
  } finally {
    await emulator.close();
  }
  return rejected;
}

/** Sends genuine requests of every version and method; returns those that were not accepted as they are. */
export async function findRejected(requests: number, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  const rejected: string[] = [];
  for (let run = 0; run < requests; run++) {
    const extraParameters = random() < 0.5 ? [] : chooseDeclared(random);
    const { event, request } = chooseGenuine(random, extraParameters);
    const options = { ...WITH_GET, extraParameters };
    const received = await verifyPushRequest(request, options).catch((error: Error) => error);
    // Two of the names must not be declared together.
    if (received instanceof TypeError) continue;
    const read = (name: string): unknown => Reflect.get(received, name);
    const isSame =
      REQUIRED.every((name) => name in received) &&
      Object.entries(event).every(
        ([name, value]) => typeof read(name) !== "string" || read(name) === value,
      );
    if (!isSame) rejected.push(`${JSON.stringify(received)} ${JSON.stringify(request)}`);
  }
  return rejected;
}
