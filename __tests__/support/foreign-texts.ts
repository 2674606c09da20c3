/**
 * Texts that an account's token signs for other products, and genuine webhook requests, by a signer
 * of its own, so that a mistake of the library does not hide here as well.
 */
import { createHmac, randomUUID } from "node:crypto";
import { PUSH_EVENT_TYPES, type PushRequest } from "express-push-verification";
import { createChoose, words, type Cut } from "./attacker-texts";
import { createChooseCut, joinCut } from "./cuts";

export const TOKEN = "5b0e8c7f41d94a2e8f6d3c2b1a097e65";
export const URL_HERE = "https://app.example.test/webhooks/push";

type Random = () => number;

/** The receiver that an attacker wants to deceive: its publicUrl and extraParameters. */
export interface Target {
  url: string;
  declared: readonly string[];
  /** The challenge that the attacker wants to be approved, as an event; any by default. */
  approval?: Readonly<Record<string, string>>;
}

/** The signature of a text, as the service makes it. */
export function signText(text: string): string {
  return createHmac("sha1", TOKEN).update(text, "utf8").digest("base64");
}

const escape = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);

function writeForm(pairs: Cut, space = "%20"): string {
  return pairs
    .map(([name, value]) => `${escape(name)}=${escape(value).replaceAll("%20", space)}`)
    .join("&");
}

/**
 * Parameters of requests of other products; the attacker chooses the values of those with `*`, and
 * with `X-*` also the rest of the name.
 */
const PRODUCTS: readonly (readonly string[])[] = [
  "AccountSid ApiVersion Body* From* MessageSid NumMedia SmsSid SmsStatus To*",
  "AccountSid ApiVersion CallSid CallStatus Called* Caller* Direction From* To*",
  "AccountSid CallSid Digits* SpeechResult* msg* zip*",
  "AccountSid AddOns* Body* FromCity* ProfileName* WaId",
  "AccountSid Attributes* EventType WorkspaceSid TaskSid",
  "AccountSid ErrorCode MessageStatus RawDlrDoneDate SmsSid To*",
  "AccountSid Identity* RoomName* RoomSid StatusCallbackEvent Timestamp",
  "AccountSid RecordingSid RecordingUrl RecordingStatus",
  "AccountSid CallSid From* SipHeader_X-* To*",
  "AccountSid FlowSid a* account* uuid* zone*",
].map((names) => names.split(" "));

/**
 * A text that the service signs for another product of the account. The attacker chooses values of
 * its parameters, also the last one, and often the URL.
 */
export function chooseForeignText(random: Random, { url: here, declared, approval }: Target) {
  const { below, from, sid, isChosen } = createChoose(random);
  const uuid = from([randomUUID(), sid("").slice(0, 32), sid("EV"), "evt-1"]);
  const account = approval?.["account_sid"] ?? sid("AC");
  const type = isChosen(0.8)
    ? "challenge.approved"
    : from(["challenge.expired", "factor.verified"]);
  const isV2 = isChosen(0.5);
  const event: [string, string][] = [
    ["account_sid", account],
    ...(isV2 && isChosen(0.5) ? [["challenge_details", '{"message":"'] as [string, string]] : []),
    ["challenge_sid", sid("YC")],
    ["entity_identity", "victim"],
    ...(isV2 ? [["factor_friendly_name", "phone"] as [string, string]] : []),
    ["factor_sid", sid("YF")],
    ...(isV2 ? [["factor_type", "push"] as [string, string]] : []),
    ["service_sid", sid("VA")],
    ["type", type],
    ["uuid", uuid],
    ...(isChosen(0.4)
      ? [[from(["zz", "version", "webhook_sid", "z=", ...declared]), ""] as [string, string]]
      : []),
  ];
  for (const pair of event) pair[1] = approval?.[pair[0]] ?? pair[1];
  if (declared.length > 0 && isChosen(0.5)) {
    event.push([from(declared), from(["", "1", uuid, "\u0000"])]);
    event.sort(([one], [other]) => (one < other ? -1 : 1));
  }
  const isGet = isChosen(0.4);
  const write = (pairs: Cut) => (isGet && isChosen(0.5) ? writeForm(pairs) : pairs.flat().join(""));
  // The event in the URL, in a value, or its beginning in the URL and its end in the last value.
  const splitAt = from([0, event.length, 1 + below(event.length)]);
  const [inUrl, inValue] = [write(event.slice(0, splitAt)), event.slice(splitAt).flat().join("")];
  const chosenUrl = here + from(["", "", "", "?", "/", "-", "?kind=", "&", ":443", "#"]) + inUrl;
  const url = isChosen(0.6)
    ? chosenUrl
    : from([
        here,
        `${here}/sms`,
        `${here}-sms`,
        `${here}sms`,
        `${here}?kind=sms`,
        here.slice(0, -1 - below(12)),
        here.replace("test/", "test:443/"),
      ]) + (isChosen(0.2) ? inUrl : "");
  if (isChosen(0.05)) {
    // A body that is no form is bound by its hash.
    const hash = `bodySHA256=${sid("")}${sid("")}`;
    return { text: url + (url.includes("?") ? "&" : "?") + hash };
  }
  const chosenValues = ["x", inValue, write(event), `x${inValue}`];
  const pairs: [string, string][] = from(PRODUCTS).map((marked) => {
    const name = marked.replace("*", "");
    if (marked.endsWith("-*")) return [name + from(chosenValues), from(chosenValues)];
    if (marked !== name) return [name, from(chosenValues)];
    return [
      name,
      name.endsWith("Sid") ? (name === "AccountSid" ? account : sid("XX")) : "2010-04-01",
    ];
  });
  const last = pairs.at(-1);
  if (last !== undefined && isChosen(0.6)) last[1] = inValue;
  if (!isGet) return { text: url + joinCut(pairs) };
  return { text: url + (url.includes("?") ? "&" : "?") + writeForm(pairs, from(["+", "%20"])) };
}

/** The request by which an attacker passes a signed text off as an event; undefined if he cannot. */
export function chooseForgery(
  text: string,
  random: Random,
  { url }: Target,
): PushRequest | undefined {
  const signed = text.split("#")[0] ?? "";
  const here = [url.replace("test/", "test:443/"), url].find((one) => signed.startsWith(one));
  if (here === undefined) return undefined;
  const rest = signed.slice(here.length);
  const headers = { "x-service-signature": signText(signed) };
  if (rest.startsWith(url.includes("?") ? "&" : "?") && random() < 0.5) {
    return { method: "GET", url: signed.slice(signed.indexOf("/webhooks")), headers };
  }
  for (let tries = 0; tries < 3; tries++) {
    const cut = createChooseCut(rest, random)();
    if (cut === undefined) continue;
    const body = writeForm(cut);
    return {
      method: "POST",
      url: "/webhooks/push",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body,
    };
  }
  return undefined;
}

const IDENTITIES = [
  ...words("ada@example.com two_factor_user adaevent_x type uuid entity account_sid AccountSid"),
  ...words("prod_eu_west_1 challenge.approved"),
  "Zoë \u{1F600}",
  "f".repeat(64),
  "a+b c&d=e%41",
  "  x  ",
];

/** Parameters that the service may add without notice. */
const ADDED = words(
  "api_version delivery_attempt date_created factor_status region source_type status tz tag",
);

/** Texts that a device may choose, and for which only `confirm` accepts an event. */
const HOSTILE_TEXTS = words(
  "AccountSid= AccountSidAC bodySHA256= account_sid=A entity_identity factor_friendly_name factor_sidYF service_sidVA typechallenge.approveduuid zone",
);
const UNDECLARED = words("event_id entity_sid expiration_date version webhook_sid a");

const WORDS = words("user uuid type types status sid date version webhook zone");
const WORDS_AFTER = words("event factor entity challenge account id x name");

/** Draws names of parameters that the service may add; they contain each other and known names. */
export function chooseDeclared(random: Random): string[] {
  const { from, below } = createChoose(random);
  const choose = () =>
    from(["_", "_", "-", ""]) === ""
      ? from(WORDS)
      : [
          from([...WORDS, ...WORDS_AFTER]),
          from(WORDS),
          ...(below(3) === 0 ? [from(WORDS)] : []),
        ].join(from(["_", "_", "-", ""]));
  const names = Array.from({ length: 1 + below(3) }, choose);
  return [...new Set(names)].filter((name) => name !== "type" && !/^uuid$|^[a-z]+_sid$/.test(name));
}

const DECLARED_VALUES = [
  ...words("1 eu admin 2024-03-05T10:00:00Z Europe/Berlin"),
  "",
  randomUUID(),
];

/**
 * A genuine webhook request of any version, type and method, and the event that it must be.
 *
 * @param isHostile with texts and added parameters for which only `confirm` accepts an event.
 */
export function chooseGenuine(random: Random, declared: readonly string[] = [], isHostile = false) {
  const { from, sid, isChosen } = createChoose(random);
  const type = from([...PUSH_EVENT_TYPES, ...(isHostile ? [] : ["challenge.expired"])]);
  const isChallenge = type.startsWith("challenge.");
  const version = from(["v1", "v2"]);
  const hostile = () => (isHostile && isChosen(0.5) ? from(HOSTILE_TEXTS) : "");
  const text = () =>
    from(IDENTITIES) + (isChosen(0.5) ? from(IDENTITIES) : "") + hostile() + hostile();
  const json = () =>
    JSON.stringify({ [text()]: text(), entity_identity: text(), account_sid: sid("AC"), type });
  const identity = text();
  // Stated in docs/signatures: an identity must not contain such a name.
  const mayEnd = (value: string) =>
    declared.some(
      (name) => name > "entity_identity" && name < "factor_sid" && value.includes(name),
    );
  const event: Record<string, string> = {
    uuid: from([
      ...words(
        `${randomUUID()} ${randomUUID().toUpperCase()} ${sid("").slice(0, 32)} ${sid("EV")}`,
      ),
      ...words("01J9ZQ5K3M8T7V2W evt_9:b 0"),
    ]),
    type,
    account_sid: sid("AC"),
    service_sid: sid("VA"),
    entity_identity: isChosen(0.3) || mayEnd(identity) ? randomUUID() : identity,
    factor_sid: sid("YF"),
    ...(isChallenge && { challenge_sid: sid("YC") }),
    ...(version === "v2" && {
      factor_type: "push",
      factor_friendly_name: text(),
      ...(isChosen(0.7) && { factor_metadata: json() }),
      ...(isChallenge && {
        challenge_details: JSON.stringify({
          message: text(),
          date: "2024-03-05",
          fields: [{ label: text(), value: text() }],
        }),
        ...(isChosen(0.5) && { challenge_hidden_details: json() }),
        ...(isChosen(0.5) && { challenge_metadata: json() }),
      }),
    }),
  };
  const pairs = [
    ...Object.entries(event),
    ...declared.flatMap((name): Cut => (isChosen(0.7) ? [[name, from(DECLARED_VALUES)]] : [])),
    ...(isHostile ? UNDECLARED : []).flatMap((name): Cut =>
      isChosen(0.25) ? [[name, hostile()]] : [],
    ),
  ];
  // A parameter between type and uuid that is not declared, such as tz, excludes one like x_uuid.
  const mayAdd = !declared.some((name) => name > "uuid" && name.endsWith("uuid"));
  const added: Cut =
    isChosen(0.3) && mayAdd && type !== "challenge.expired"
      ? [[from(ADDED), from(["1", "Europe/Berlin", "", "device"])]]
      : [];
  const url = isChosen(0.2) ? URL_HERE.replace("test/", "test:443/") : URL_HERE;
  const space = from(["+", "%20"]);
  if (isChosen(0.3)) {
    const query = `?${writeForm(pairs, space)}`;
    const headers = { "x-service-signature": signText(url + query) };
    return { event, request: { method: "GET", url: `/webhooks/push${query}`, headers } };
  }
  const sent = [...pairs, ...added];
  const request: PushRequest = {
    method: "POST",
    url: "/webhooks/push",
    headers: {
      "x-service-signature": signText(url + joinCut(sent)),
      "content-type": from([
        "application/x-www-urlencoded",
        "application/x-www-form-urlencoded; charset=utf-8",
      ]),
    },
    body: writeForm(isChosen(0.5) ? sent.toReversed() : sent, space),
  };
  return { event, request };
}
