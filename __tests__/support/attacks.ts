/** Counts what receivers accept of cuts, of texts of other products, and of genuine requests. */
import {
  verifyPushRequest,
  type Confirm,
  type VerifyOptions,
  type WebhookError,
} from "express-push-verification";
import { createChoose, FRAGMENTS, honestCut, UNLUCKY_NAMES, words } from "./attacker-texts";
import { chooseCuts, countForeign, listCuts } from "./cuts";
import {
  chooseDeclared,
  chooseForeignText,
  chooseForgery,
  chooseGenuine,
  TOKEN,
  URL_HERE,
  type Kind,
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
  const choose = createChoose(seed);
  const target = { url: options.publicUrl, declared: options.extraParameters ?? [] };
  const count = {
    /** Texts that an attacker can send to the receiver as a request with a matching signature. */
    requests: 0,
    /** Those whose parameters are a complete event: only the check of its text rejects them. */
    events: 0,
    accepted: [] as string[],
  };
  for (let run = 0; run < texts; run++) {
    const text = chooseForeignText(choose, target);
    const forgery = chooseForgery(text, choose, target);
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

/** Returns the genuine requests that are not accepted as they are; `confirm` knows the unclear ones. */
export async function findRejected(requests: number, seed: number, kind: Kind = "plain") {
  const choose = createChoose(seed);
  const rejected: string[] = [];
  for (let run = 0; run < requests; run++) {
    const isPlain = kind === "plain";
    const extraParameters = isPlain && choose.isChosen(0.5) ? chooseDeclared(choose) : [];
    const { event, request } = chooseGenuine(choose, extraParameters, kind);
    const isSame = (received: object) =>
      words("account_sid service_sid type uuid").every((name) => name in received) &&
      Object.entries(event).every(([name, value]) => {
        const read: unknown = Reflect.get(received, name);
        return typeof read !== "string" || read === value;
      });
    const confirm: Confirm | undefined = isPlain ? undefined : isSame;
    const options = { ...WITH_GET, extraParameters, confirm };
    const received = await verifyPushRequest(request, options).catch((error: Error) => error);
    // Two of the names must not be declared together.
    if (received instanceof TypeError) continue;
    // Rightly rejected: before a declared name, it can be read as another type.
    if (Reflect.get(received, "parameter") === "source_type") continue;
    if (!isSame(received)) rejected.push(`${JSON.stringify(received)} ${JSON.stringify(request)}`);
  }
  return rejected;
}

const ADDED = Object.fromEntries(
  new URLSearchParams("api_version=2&delivery_attempt=1&factor_status=on&tag=t&tz=UTC&zone=eu"),
);
const PAIRS = FRAGMENTS.flatMap((one) => FRAGMENTS.map((other) => one + other));

/** The events whose cuts are all tried: an attacker chose one text, the service added parameters. */
export const ATTACKED: readonly (readonly [
  version: "v1" | "v2",
  type: string,
  added: Record<string, string>,
  texts: readonly string[],
])[] = [
  ["v1", "challenge.approved", {}, FRAGMENTS],
  ["v1", "factor.verified", {}, [...FRAGMENTS, ...PAIRS]],
  ["v1", "challenge.approved", ADDED, FRAGMENTS],
  ["v1", "factor.verified", ADDED, FRAGMENTS],
  ["v2", "challenge.approved", {}, FRAGMENTS.slice(0, 9)],
  ["v2", "factor.verified", {}, ["adafactor_friendly_name", ...FRAGMENTS]],
  ["v2", "factor.verified", { tag: "t" }, FRAGMENTS.slice(0, 8)],
  ["v1", "challenge.expired", { zone: "eu", tag: "t" }, FRAGMENTS],
];

/** Counts all cuts of the requests of a row that mean another event. */
export function countAttacked([version, type, added, texts]: (typeof ATTACKED)[number]) {
  const ofDevice = words("entity_identity factor_friendly_name factor_metadata challenge_metadata");
  const sent = new Set(honestCut(version, type).map(([name]) => name));
  const requests = [...ofDevice.filter((name) => sent.has(name)), ...Object.keys(added)]
    // The values of factor_status are words of the service; see SECURITY.md.
    .filter((field) => field !== "factor_status")
    .flatMap((field) => texts.map((text) => honestCut(version, type, { ...added, [field]: text })));
  return countForeign(requests, (text) => listCuts(text));
}

export function countRandom(requests: number, seed: number, declared: readonly string[] = []) {
  const choose = createChoose(seed);
  const sent = Array.from(
    { length: requests },
    () => chooseGenuine(choose, declared, "attacked").sent,
  );
  return countForeign(sent, (text) => chooseCuts(text, choose, declared), declared);
}
