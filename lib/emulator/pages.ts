import type { Pair } from "../form";
import { EmulatorError, type EmulatorErrorCode } from "./errors";
import { isSid, type SidPrefix } from "./sids";

/** Where an item stands in its list. */
export interface Position {
  seconds: number;
  sid: string;
}

/** How a list is ordered and refused. */
export interface ListRules {
  prefix: SidPrefix;
  compare: (a: Position, b: Position) => number;
  refusals: { pageSize: EmulatorErrorCode; page: EmulatorErrorCode; pageToken: EmulatorErrorCode };
}

/** What a client asks of a list (specification, section 8). */
export interface PageQuery {
  pageSize: number;
  /** Echoed, and counted on in links: the token alone says where a page begins. */
  page: number;
  pageToken?: string;
  place?: Place;
}

/** One page, and the queries of its neighbours. */
export interface Page<Item> {
  items: Item[];
  /** How many items stand before it. */
  start: number;
  query: PageQuery;
  first: PageQuery;
  previous: PageQuery | null;
  next: PageQuery | null;
}

interface Place {
  side: keyof typeof SIDES;
  position: Position;
}

/**
 * A token holds the position of an item, not a count: items that come and go meanwhile make no
 * other item appear twice or not at all, even when the item itself is deleted.
 */
const SIDES = {
  PA: { name: "after", includes: (order: number) => order > 0, fromEnd: false },
  PF: { name: "from", includes: (order: number) => order >= 0, fromEnd: false },
  PB: { name: "before", includes: (order: number) => order < 0, fromEnd: true },
  PU: { name: "until", includes: (order: number) => order <= 0, fromEnd: true },
} as const;

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * Reads what a client asks of a list.
 *
 * @throws EmulatorError with the code that `rules` names for each parameter.
 */
export function readPageQuery(pairs: readonly Pair[], rules: ListRules): PageQuery {
  const parameters = new Map(pairs);
  const pageSize = readWhole(parameters.get("PageSize"), DEFAULT_PAGE_SIZE);
  if (pageSize === undefined || pageSize < 1) {
    throw new EmulatorError(rules.refusals.pageSize, "Invalid PageSize");
  }
  if (pageSize > MAX_PAGE_SIZE) {
    throw new EmulatorError(rules.refusals.pageSize, "Page size too large");
  }
  const page = readWhole(parameters.get("Page"), 0);
  if (page === undefined) throw new EmulatorError(rules.refusals.page, "Invalid Page");
  const pageToken = parameters.get("PageToken");
  if (pageToken === undefined || pageToken === "") return { pageSize, page };
  const place = readToken(pageToken, rules.prefix);
  if (place === undefined) throw new EmulatorError(rules.refusals.pageToken, "Invalid PageToken");
  return { pageSize, page, pageToken, place };
}

/** Cuts a page out of all items. */
export function cutPage<Item extends { sid: string }>(
  all: Iterable<Item>,
  positionOf: (item: Item) => Position,
  query: PageQuery,
  { compare }: ListRules,
): Page<Item> {
  const sorted = [...all].toSorted((a, b) => compare(positionOf(a), positionOf(b)));
  const { page, pageSize, place } = query;
  const side = place === undefined ? undefined : SIDES[place.side];
  const eligible =
    place === undefined
      ? sorted
      : sorted.filter((item) =>
          SIDES[place.side].includes(compare(positionOf(item), place.position)),
        );
  const items = side?.fromEnd === true ? eligible.slice(-pageSize) : eligible.slice(0, pageSize);

  const [first] = items;
  const last = items.at(-1);
  let before: Place | undefined;
  let after: Place | undefined;
  if (first !== undefined && last !== undefined) {
    if (first !== sorted[0]) before = { side: "PB", position: positionOf(first) };
    if (last !== sorted.at(-1)) after = { side: "PA", position: positionOf(last) };
  } else if (place !== undefined && sorted.length > 0) {
    // Everything on this page is gone; what remains is all on the other side of its token.
    if (side?.fromEnd === true) after = { side: "PF", position: place.position };
    else before = { side: "PU", position: place.position };
  }
  return {
    items,
    start: first === undefined ? 0 : sorted.indexOf(first),
    query,
    first: { pageSize, page: 0 },
    previous: before === undefined ? null : linkTo(before, pageSize, Math.max(page - 1, 0)),
    next: after === undefined ? null : linkTo(after, pageSize, page + 1),
  };
}

/** The query of a page as text, in the service's order. */
export function formatPageQuery({ pageSize, page, pageToken }: PageQuery): string {
  const token = pageToken === undefined ? "" : `&PageToken=${pageToken}`;
  return `PageSize=${pageSize}&Page=${page}${token}`;
}

function linkTo(place: Place, pageSize: number, page: number): PageQuery {
  return { pageSize, page, pageToken: writeToken(place), place };
}

function writeToken({ side, position }: Place): string {
  return side + Buffer.from(`${position.seconds}:${position.sid}`).toString("base64url");
}

function readToken(token: string, prefix: SidPrefix): Place | undefined {
  const side = token.slice(0, 2);
  if (!isSide(side)) return undefined;
  const [seconds = "", sid = ""] = Buffer.from(token.slice(2), "base64url").toString().split(":");
  if (!/^\d{1,12}$/.test(seconds) || !isSid(prefix, sid)) return undefined;
  const place = { side, position: { seconds: Number(seconds), sid } };
  // Decoding is lenient; a token is what was supplied, and nothing like it.
  return writeToken(place) === token ? place : undefined;
}

function isSide(text: string): text is keyof typeof SIDES {
  return Object.hasOwn(SIDES, text);
}

function readWhole(text: string | undefined, byDefault: number): number | undefined {
  if (text === undefined || text === "") return byDefault;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
