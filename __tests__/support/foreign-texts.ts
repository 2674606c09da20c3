/**
 * Texts that an account's token signs: genuine webhook requests, and requests of other products. By a
 * signer of its own, so that a mistake of the library does not hide here as well.
 */
import { createHmac } from "node:crypto";
import { PUSH_EVENT_TYPES, type PushRequest } from "express-push-verification";
import { RANDOM_FRAGMENTS, UUID, words, type Choose, type Cut } from "./attacker-texts";
import { chooseCuts, joinCut } from "./cuts";

export const TOKEN = "5b0e8c7f41d94a2e8f6d3c2b1a097e65";
export const URL_HERE = "https://app.example.test/webhooks/push";

/** The receiver that an attacker wants to deceive: its publicUrl and extraParameters. */
interface Target {
  url: string;
  declared: readonly string[];
  /** The challenge that the attacker wants to be approved, as an event; any by default. */
  approval?: Readonly<Record<string, string>>;
}

function signText(text: string): string {
  return createHmac("sha1", TOKEN).update(text, "utf8").digest("base64");
}

const writeForm = (pairs: Cut, space = "%20") =>
  String(new URLSearchParams(pairs as [string, string][])).replaceAll("+", space);
const withPort = (url: string) => url.replace("test/", "test:443/");

const IDENTITIES = [
  ...words("ada@example.com two_factor_user adaevent_x type uuid entity account_sid AccountSid"),
  ...words("prod_eu_west_1 challenge.approved"),
  "Zoë \u{1F600}",
  "f".repeat(64),
  "a+b c&d=e%41",
  "  x  ",
];

/** Texts that a device may choose, and for which only `confirm` accepts an event. */
const HOSTILE_TEXTS = words(
  "AccountSid= AccountSidAC bodySHA256= account_sid=A entity_identity factor_friendly_name factor_sidYF service_sidVA typechallenge.approveduuid zone",
);

/** The texts of each kind of genuine request, and the parameters that the service adds to it. */
const KINDS = {
  plain: {
    texts: IDENTITIES,
    added: words(
      "api_version delivery_attempt date_created factor_status region source_type tag tz",
    ),
  },
  /** Only `confirm` accepts it. */
  unclear: {
    texts: [...IDENTITIES, ...HOSTILE_TEXTS],
    added: words("event_id entity_sid expiration_date version webhook_sid a"),
  },
  /** An attacker wants to cut it anew. */
  attacked: {
    texts: RANDOM_FRAGMENTS,
    added: words("api_version delivery_attempt factor_status region tag tz zone"),
  },
};
export type Kind = keyof typeof KINDS;

const PARTS = words("user uuid type types status sid date version webhook zone");

/** Draws names of parameters that the service may add; they contain each other and known names. */
export function chooseDeclared({ from, below }: Choose): string[] {
  const choose = () => {
    const first = from([...PARTS, ...words("event factor entity challenge account id x name")]);
    const rest = [from(PARTS), ...(below(3) === 0 ? [from(PARTS)] : [])];
    return below(4) === 0 ? from(PARTS) : [first, ...rest].join(from(["_", "_", "-", ""]));
  };
  const names = Array.from({ length: 1 + below(3) }, choose);
  return [...new Set(names)].filter((name) => name !== "type" && !/^uuid$|^[a-z]+_sid$/.test(name));
}

const DECLARED_VALUES = [...words(`1 eu admin 2024-03-05T10:00:00Z ${UUID}`), ""];

/** A genuine webhook request of any version, type and method, its event, and its parameters. */
export function chooseGenuine(
  choose: Choose,
  declared: readonly string[] = [],
  kind: Kind = "plain",
  given: Target["approval"] = {},
) {
  const { from, sid, uuid, isChosen, text: join } = choose;
  const { texts, added } = KINDS[kind];
  const isPlain = kind === "plain";
  const text = () => (kind === "attacked" && isChosen(0.5) ? "eve" : join(texts, isPlain ? 2 : 5));
  const type = from([...PUSH_EVENT_TYPES, ...(kind === "unclear" ? [] : ["challenge.expired"])]);
  const isChallenge = type.startsWith("challenge.");
  const json = () =>
    JSON.stringify({ [text()]: text(), entity_identity: text(), account_sid: sid("AC"), type });
  const identity = text();
  // Stated in docs/signatures: an identity must not contain such a name.
  const mayEnd = (name: string) =>
    name > "entity_identity" && name < "factor_sid" && identity.includes(name);
  const event: Record<string, string> = {
    uuid: from([
      uuid(),
      uuid().toUpperCase(),
      sid("").slice(0, 32),
      sid("EV"),
      // An undeclared parameter after another text may be a part of it.
      ...(kind === "attacked" ? [] : words("01J9ZQ5K3M8T7V2W evt_9:b 0")),
    ]),
    type,
    account_sid: sid("AC"),
    service_sid: sid("VA"),
    entity_identity: isChosen(0.3) || declared.some(mayEnd) ? uuid() : identity,
    factor_sid: sid("YF"),
    ...(isChallenge && { challenge_sid: sid("YC") }),
    ...(isChosen(0.5) && {
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
    ...given,
  };
  const add = (names: readonly string[], probability: number, value: (name: string) => string) =>
    names.flatMap((name): Cut => (isChosen(probability) ? [[name, value(name)]] : []));
  const isGet = isChosen(0.3);
  // Stated in docs/signatures: a parameter between type and uuid that is not declared, such as tz,
  // excludes an unknown type, and one like x_uuid. A GET has none.
  const mayHave = (name: string) => name !== "tz" || type !== "challenge.expired";
  const mayAdd = !isGet && !declared.some((name) => name > "uuid" && name.endsWith("uuid"));
  const extra = isPlain ? (mayAdd ? [from(added)] : []) : added;
  const sent = [
    ...Object.entries(event),
    ...add(declared, 0.7, () => from([...DECLARED_VALUES, isPlain ? "Europe/Berlin" : "a.b"])),
    ...add(extra.filter(mayHave), isPlain ? 0.3 : 0.2, (name) =>
      // The values of factor_status are words of the service; see SECURITY.md.
      isPlain || name === "factor_status" ? from(["1", "Europe/Berlin", "", "device"]) : text(),
    ),
  ];
  const url = isChosen(0.2) ? withPort(URL_HERE) : URL_HERE;
  const form = writeForm(isChosen(0.5) ? sent.toReversed() : sent, from(["+", "%20"]));
  const path = `/webhooks/push${isGet ? `?${form}` : ""}`;
  const request: PushRequest = {
    method: isGet ? "GET" : "POST",
    url: path,
    headers: {
      "x-service-signature": signText(url + (isGet ? `?${form}` : joinCut(sent))),
      "content-type": from([
        "application/x-www-urlencoded",
        "application/x-www-form-urlencoded; charset=utf-8",
      ]),
    },
    body: isGet ? undefined : form,
  };
  return { event, sent, request };
}

/**
 * Parameters of requests of other products; the attacker chooses the values of those with `*`, and
 * with `X-*` also the rest of the name.
 */
const PRODUCTS = [
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
].map(words);

/** A text that the service signs for another product, with values and a URL that an attacker chooses. */
export function chooseForeignText(choose: Choose, { url, declared, approval }: Target): string {
  const { below, from, sid, isChosen } = choose;
  const genuine = chooseGenuine(choose, declared, "plain", approval);
  const event: Cut = [
    ...genuine.sent.toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ...(isChosen(0.4) ? [[from(["zz", "version", "z=", ...declared]), ""] as const] : []),
  ];
  const isGet = isChosen(0.4);
  const write = (pairs: Cut) => (isGet && isChosen(0.5) ? writeForm(pairs) : pairs.flat().join(""));
  // The event in the URL, in a value, or its beginning in the URL and its end in the last value.
  const splitAt = from([0, event.length, 1 + below(event.length)]);
  const [inUrl, inValue] = [write(event.slice(0, splitAt)), event.slice(splitAt).flat().join("")];
  const ends = ["", "", "", "/sms", "-sms", "?kind=sms", ..."?/-&#", "?kind=", ":443"];
  const chosenUrl =
    (isChosen(0.1) ? withPort(url) : url + from(ends)) + (isChosen(0.7) ? inUrl : "");
  const query = chosenUrl + (chosenUrl.includes("?") ? "&" : "?");
  // A body that is no form is bound by its hash.
  if (isChosen(0.05)) return `${query}bodySHA256=${sid("")}${sid("")}`;
  const values = ["x", inValue, write(event), `x${inValue}`];
  const pairs = from(PRODUCTS).map((marked): [string, string] => {
    const [name = "", isFree] = marked.split("*");
    if (name.endsWith("-")) return [name + from(values), from(values)];
    if (isFree !== undefined) return [name, from(values)];
    if (name === "AccountSid") return [name, genuine.event.account_sid ?? ""];
    return [name, name.endsWith("Sid") ? sid("XX") : "2010-04-01"];
  });
  const last = pairs.at(-1);
  if (last !== undefined && isChosen(0.6)) last[1] = inValue;
  return isGet ? query + writeForm(pairs, from(["+", "%20"])) : chosenUrl + joinCut(pairs);
}

/** The request by which an attacker passes a signed text off as an event; undefined if he cannot. */
export function chooseForgery(text: string, choose: Choose, { url, declared }: Target) {
  const [signed = ""] = text.split("#");
  const here = [withPort(url), url].find((one) => signed.startsWith(one));
  if (here === undefined) return undefined;
  const rest = signed.slice(here.length);
  const headers = {
    "x-service-signature": signText(signed),
    "content-type": "application/x-www-form-urlencoded",
  };
  if (rest.startsWith(url.includes("?") ? "&" : "?") && choose.isChosen(0.5)) {
    const path = signed.slice(signed.indexOf("/webhooks"));
    return { method: "GET", url: path, headers, body: undefined };
  }
  const [cut] = chooseCuts(rest, choose, declared);
  return cut && { method: "POST", url: "/webhooks/push", headers, body: writeForm(cut) };
}
