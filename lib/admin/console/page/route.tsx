import { useEffect, useRef } from "preact/hooks";
import { ANY_SID } from "../../../kit/sid";
import { decodeSafely } from "../../../kit/text";
import { createStore } from "./store";

/** Reads the place that the address names: `#/requests/7?code=SIGNATURE_MISMATCH`. */
function readPlace() {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/");
  return {
    page,
    /** The id of the item that is open on the page. */
    id: rest.length === 0 ? undefined : decodeSafely(rest.join("/")),
    /** Whether the address led here; false when a row was opened or closed on the page. */
    isLinked: true,
    /** Filters and search. */
    query: new URLSearchParams(query),
  };
}

type Place = ReturnType<typeof readPlace>;

/** The place that is shown. */
export const place = createStore(readPlace());

addEventListener("hashchange", () => (place.value = readPlace()));

/** Writes a place as a link. */
export function linkTo(page: string, id?: string, query?: URLSearchParams): string {
  const text = query?.toString() ?? "";
  const path = id === undefined ? page : `${page}/${encodeURIComponent(id)}`;
  return `#/${path}${text === "" ? "" : `?${text}`}`;
}

/** The link to the requests that a filter selects. */
export const linkToRequests = (filter: Record<string, string>): string =>
  linkTo("requests", undefined, new URLSearchParams(filter));

/** Opens or closes something on the page that is shown: no entry of the history, a reload keeps it. */
export function replacePlace({ id, query = place.value.query }: Partial<Place>): void {
  const next = { ...place.value, query, id, isLinked: false };
  const shown = new URLSearchParams(query);
  // Any other text may be the identity of a user.
  if (!ANY_SID.test(shown.get("q") ?? "")) shown.delete("q");
  history.replaceState(null, "", linkTo(next.page || "requests", next.id, shown));
  place.value = next;
}

/** Attributes of the block of a thing: the address may name it, and leads to it. */
export function useTarget(id: string) {
  const ref = useRef<HTMLDivElement>(null);
  const isTarget = place.value.id === id;
  useEffect(() => {
    if (isTarget) ref.current?.scrollIntoView({ block: "center" });
  }, [isTarget]);
  return { ref, "aria-current": isTarget ? ("true" as const) : undefined };
}
