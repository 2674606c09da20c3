import { useEffect, useRef } from "preact/hooks";
import { createStore, useStore } from "./store";

/** The place in the console that the address names: `#/requests/7?code=SIGNATURE_MISMATCH`. */
export interface Place {
  page: string;
  /** The id of the item that is open on the page. */
  id: string | undefined;
  /** Whether the address led here; false when a row was opened or closed on the page. */
  isLinked: boolean;
  /** Filters and search. */
  query: URLSearchParams;
}

function readPlace(): Place {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/");
  const id = rest.length === 0 ? undefined : decode(rest.join("/"));
  return { page, id, isLinked: true, query: new URLSearchParams(query) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An address that was typed or cut names nothing, but the console opens.
    return text;
  }
}

/** The place that is shown. */
export const place = createStore(readPlace());

addEventListener("hashchange", () => place.set(readPlace()));

/** Writes a place as a link. */
export function linkTo(page: string, id?: string | number, query?: URLSearchParams): string {
  const text = query?.toString() ?? "";
  const path = id === undefined ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${text === "" ? "" : `?${text}`}`;
}

/** Opens or closes something on the page that is shown: no entry of the history, a reload keeps it. */
export function replacePlace({ id, query }: Partial<Pick<Place, "id" | "query">>): void {
  const next = { ...place.value, ...(query !== undefined && { query }), id, isLinked: false };
  history.replaceState(null, "", linkTo(next.page || "requests", next.id, next.query));
  place.set(next);
}

/** Attributes of the block of a thing: the address may name it, and leads to it. */
export function useTarget(id: string) {
  const ref = useRef<HTMLDivElement>(null);
  const isTarget = useStore(place).id === id;
  useEffect(() => {
    if (isTarget) ref.current?.scrollIntoView({ block: "center" });
  }, [isTarget]);
  return { ref, "aria-current": isTarget ? ("true" as const) : undefined };
}
