import { h, type Child } from "./dom";

/** The pages beside the one that is shown, as queries; undefined where there is none. */
export interface Neighbours {
  previous: string | undefined;
  next: string | undefined;
  /** The number of the page that is shown, from 0. */
  page: number | null;
}

/** Shows the buttons that turn pages; nothing when there is one page only. */
export function showPager(
  label: string,
  { previous, next, page }: Neighbours,
  turn: (query: string) => void,
): Child {
  if (previous === undefined && next === undefined) return undefined;
  const button = (text: string, query: string | undefined) =>
    h(
      "button",
      {
        type: "button",
        "data-focus": text,
        disabled: query === undefined,
        click: () => query !== undefined && turn(query),
      },
      text,
    );
  return h(
    "nav",
    { class: "pager", "aria-label": label },
    button("Previous page", previous),
    page !== null && h("span", { class: "muted" }, `Page ${page + 1}`),
    button("Next page", next),
  );
}
