/** Every request in which an attacker chose one field among the texts of a list. */
import { FRAGMENTS, honestCut, listFreeFields } from "./attacker-texts";
import { countForeign, joinCut, listCuts, type Cut } from "./cuts";

const ADDED = Object.fromEntries(
  new URLSearchParams("api_version=2&delivery_attempt=1&factor_status=on&tag=t&tz=UTC&zone=eu"),
);
const PAIRS = FRAGMENTS.flatMap((one) => FRAGMENTS.map((other) => one + other));

/** The events that are attacked, with the parameters that the service added, and the texts. */
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
  ["v2", "factor.verified", {}, FRAGMENTS],
  ["v2", "factor.verified", { tag: "t" }, FRAGMENTS.slice(0, 8)],
  ["v1", "challenge.expired", { zone: "eu", tag: "t" }, FRAGMENTS],
];

function* listAttacked([version, type, added, texts]: (typeof ATTACKED)[number]): Generator<Cut> {
  for (const field of [...listFreeFields(version, type), ...Object.keys(added)]) {
    // Its values are words of the service; see SECURITY.md.
    if (field === "factor_status") continue;
    for (const text of texts) yield honestCut(version, type, { ...added, [field]: text });
  }
}

/** Counts all cuts that mean another event, of one in so many of the requests of a row. */
export function countAttacked(row: (typeof ATTACKED)[number], oneIn: number) {
  const count = { foreign: 0, accepted: 0 };
  for (const [index, honest] of [...listAttacked(row)].entries()) {
    if (index % oneIn !== 0) continue;
    const cuts = listCuts(joinCut(honest), ["event_x", "f"]);
    const { foreign, accepted } = countForeign(honest, cuts);
    count.foreign += foreign;
    count.accepted += accepted;
  }
  return count;
}
