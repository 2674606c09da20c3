/** Requests as the service signs them, with texts that an attacker chooses in every free field. */
/** Parameters in the order in which they are signed. */
export type Cut = readonly (readonly [name: string, value: string])[];

export const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";
export const SIDS = {
  account_sid: `AC${"1".repeat(32)}`,
  service_sid: `VA${"2".repeat(32)}`,
  factor_sid: `YF${"3".repeat(32)}`,
  challenge_sid: `YC${"4".repeat(32)}`,
};
const OTHER_SIDS = Object.entries(SIDS).map(
  ([name, sid]) => `${name}${sid.slice(0, 2)}${"b".repeat(32)}`,
);

/** Lists the words of a text. */
export const words = (text: string) => text.split(" ");

/** The parts of attacker texts in the exhaustive test. */
export const FRAGMENTS = [
  ...words("type challenge.approved uuid entity_identity factor_friendly_name factor_type"),
  ...OTHER_SIDS.slice(1, 3).toReversed(),
  ...words("ada event_x e f u z"),
];

/** The parts of random attacker texts. */
const RANDOM_FRAGMENTS = [
  ...FRAGMENTS,
  ...OTHER_SIDS,
  ...Object.keys(SIDS),
  ...words("factor_metadata challenge_details challenge_hidden_details challenge_metadata"),
  ...words("challenge.denied factor.verified typechallenge.approveduuid typex.yuuid event_id"),
  ...words("environment factor_ entity_ t ty d s s_ user_ webhook_ uu - ö \u{1F600}"),
  ...words(`${UUID} ${UUID.replaceAll("-", "")} {"a":"b"} "}`),
  " ",
];

/** Names of parameters that the service might add. */
const EXTRA_NAMES = words("api_version delivery_attempt factor_status region tag tz zone");

/** The parameters of an event of v1 or v2, with some replaced or added. */
export function honestCut(
  version: "v1" | "v2",
  type: string,
  overrides: Readonly<Record<string, string>> = {},
): Cut {
  const { challenge_sid, ...sids } = SIDS;
  const isChallenge = !type.startsWith("factor.");
  const fields = {
    uuid: UUID,
    type,
    ...sids,
    entity_identity: "eve",
    ...(isChallenge && { challenge_sid }),
    ...(version === "v2" && {
      factor_type: "push",
      factor_friendly_name: "phone",
      factor_metadata: '{"os":"x"}',
      ...(isChallenge && { challenge_details: '{"message":"?"}', challenge_metadata: "{}" }),
    }),
    ...overrides,
  };
  return Object.entries(fields);
}

/** The fields of an event whose text comes from a device. */
export function listFreeFields(version: "v1" | "v2", type: string): string[] {
  if (version === "v1") return ["entity_identity"];
  const factor = ["entity_identity", "factor_friendly_name", "factor_metadata"];
  return type.startsWith("factor.") ? factor : [...factor, "challenge_metadata"];
}

/** Names that a receiver declares, and that contain those of the parameters beside them. */
export const UNLUCKY_NAMES = ["types", "user_type", "uuid_version", "webhook_uuid", "zone_type"];

/** Choices by a generator of random numbers. */
export function createChoose(random: () => number) {
  const below = (limit: number) => Math.floor(random() * limit);
  return {
    below,
    from: <T>(list: readonly T[]) => list[below(list.length)] as T,
    sid: (prefix: string) =>
      prefix + Array.from({ length: 32 }, () => "0123456789abcdef"[below(16)]).join(""),
    isChosen: (probability: number) => random() < probability,
  };
}

/**
 * A request with random attacker texts in its free fields, and sometimes added parameters.
 *
 * @param declared names of parameters with values of the service.
 */
export function chooseHonestCut(random: () => number, declared: readonly string[] = []): Cut {
  const { below, from, isChosen } = createChoose(random);
  const chooseText = () =>
    Array.from({ length: 1 + below(6) }, () => from(RANDOM_FRAGMENTS)).join("");
  const version = from(["v1", "v2"] as const);
  const type = from(
    words("challenge.approved challenge.denied factor.created factor.verified challenge.expired"),
  );
  const overrides: Record<string, string> = {};
  for (const field of listFreeFields(version, type)) {
    if (isChosen(0.5)) overrides[field] = chooseText();
  }
  // Stated in SECURITY.md: such a type with such a parameter, or v1 with a status, is not covered.
  const isKnown = type !== "challenge.expired";
  for (const name of EXTRA_NAMES) {
    if (isChosen(0.85) || (!isKnown && name === "tz")) continue;
    overrides[name] = isChosen(0.5) || name === "factor_status" ? "active" : chooseText();
  }
  for (const name of declared) {
    if (isChosen(0.5)) overrides[name] = from(["4", "admin", UUID, "a.b"]);
  }
  return honestCut(version, type, overrides);
}

/** A generator of numbers from 0 to 1 with a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
