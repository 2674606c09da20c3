import { h, visible } from "./dom";

/** Shows two URLs one below the other, and marks the part of the first that differs. */
export function compareUrls(
  first: readonly [label: string, url: string],
  second: readonly [label: string, url: string],
): HTMLElement {
  const [firstLabel, firstUrl] = first;
  const [secondLabel, secondUrl] = second;
  const start = countCommon(firstUrl, secondUrl);
  const end = countCommon(reverse(firstUrl.slice(start)), reverse(secondUrl.slice(start)));
  return h(
    "dl",
    { class: "urls" },
    h("dt", {}, firstLabel),
    h("dd", {}, markPart(firstUrl, start, end)),
    h("dt", {}, secondLabel),
    h("dd", { class: "muted" }, markPart(secondUrl, start, end)),
  );
}

function markPart(url: string, start: number, end: number): HTMLElement {
  const differing = url.slice(start, url.length - end);
  return h(
    "bdi",
    {},
    visible(url.slice(0, start)),
    differing !== "" && h("mark", {}, visible(differing)),
    visible(url.slice(url.length - end)),
  );
}

function countCommon(a: string, b: string): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

function reverse(text: string): string {
  // By UTF-16 unit, as countCommon compares.
  return text.split("").toReversed().join("");
}
