import { h } from "./dom";

/** Shows one figure with its label and a note; the tone colours it. */
export function showCard(label: string, figure: string, note: string, tone = ""): HTMLElement {
  return h(
    "div",
    { class: "card" },
    h("dt", {}, label),
    h("dd", { class: `figure ${tone}` }, figure),
    h("dd", { class: "note" }, note),
  );
}
