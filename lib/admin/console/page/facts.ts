import { h, received, type Child } from "./dom";

/** A name and what was received for it; without a value it is left out. */
export type Fact = readonly [name: string, value: string | undefined];

/** Lists facts; nothing when there are none. */
export function listFacts(facts: readonly Fact[]): Child {
  const known = facts.filter(([, value]) => value !== undefined);
  if (known.length === 0) return undefined;
  return h(
    "dl",
    { class: "facts" },
    known.map(([name, value]) => [h("dt", {}, name), h("dd", {}, received(value))]),
  );
}
