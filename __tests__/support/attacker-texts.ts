/** Parameters as the service sends them, and texts that an attacker chooses for their values. */
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

export const words = (text: string) => text.split(" ");

/** The parts of attacker texts in the exhaustive test. */
export const FRAGMENTS = [
  ...words("type challenge.approved uuid entity_identity factor_friendly_name factor_type"),
  ...OTHER_SIDS.slice(1, 3).toReversed(),
  ...words("ada event_x e f u z"),
];

export const RANDOM_FRAGMENTS = [
  ...FRAGMENTS,
  ...OTHER_SIDS,
  ...Object.keys(SIDS),
  ...words("factor_metadata challenge_details challenge_hidden_details challenge_metadata"),
  ...words("challenge.denied factor.verified typechallenge.approveduuid typex.yuuid event_id"),
  ...words("environment factor_ entity_ t ty d s s_ user_ webhook_ uu - ö \u{1F600}"),
  ...words(`${UUID} ${UUID.replaceAll("-", "")} {"a":"b"} "}`),
  OTHER_SIDS.toSorted().join("").replace("factor_sid", "entity_identityadafactor_sid"),
  " ",
];

/** Names that a receiver declares, and that contain those of the parameters beside them. */
export const UNLUCKY_NAMES = ["types", "user_type", "uuid_version", "webhook_uuid", "zone_type"];

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

export function createChoose(seed: number) {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const from = <T>(list: readonly T[]) => list[below(list.length)] as T;
  const sid = (prefix: string) =>
    prefix + Array.from({ length: 32 }, () => "0123456789abcdef"[below(16)]).join("");
  return {
    below,
    from,
    isChosen: (probability: number) => random() < probability,
    /** As many texts of a list as there may be at most, joined. */
    text: (list: readonly string[], most: number) =>
      Array.from({ length: 1 + below(most) }, () => from(list)).join(""),
    sid,
    uuid: () => sid("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  };
}

export type Choose = ReturnType<typeof createChoose>;
