import type { Pair } from "../../form/form";
import { EmulatorError, type EmulatorErrorCode } from "../emulator-error";
import { isSid, type SidPrefix } from "../../form/sid";

/** Position of an item in the order of its list. */
export interface Position {
  seconds: number;
  sid: string;
}

/** Order of a list, and the codes of its errors. */
export interface ListRules {
  prefix: SidPrefix;
  compare: (a: Position, b: Position) => number;
  invalidPageSize: EmulatorErrorCode;
  invalidPage: EmulatorErrorCode;
  invalidPageToken: EmulatorErrorCode;
}

/** Parameters that select a page of a list (specification, section 8). */
export interface PageParameters {
  pageSize: number;
  /** Index from 0. Shown in the response and in links; `pageToken` alone selects the page. */
  page: number;
  pageToken?: string;
  place?: Place;
}

/** One page of a list, and the parameters of the pages around it. */
export interface ListPage<Item> {
  items: Item[];
  /** Number of items before this page. */
  start: number;
  query: PageParameters;
  first: PageParameters;
  previous: PageParameters | null;
  next: PageParameters | null;
}

interface Place {
  side: keyof typeof SIDES;
  position: Position;
}

/**
 * Sides of the position that a page token holds. A position instead of a count: items that are
 * created or deleted between two requests repeat or hide no other item.
 */
const SIDES = {
  /** After the position. */
  PA: { includes: (order: number) => order > 0, fromEnd: false },
  /** From the position. */
  PF: { includes: (order: number) => order >= 0, fromEnd: false },
  /** Before the position. */
  PB: { includes: (order: number) => order < 0, fromEnd: true },
  /** Until the position. */
  PU: { includes: (order: number) => order <= 0, fromEnd: true },
} as const;

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * Reads the parameters of a page from a query. Page size: 1 to 1000, by default 50.
 *
 * @throws EmulatorError for an invalid parameter, with the code that `rules` has for it.
 */
export function readPageParameters(pairs: readonly Pair[], rules: ListRules): PageParameters {
  const parameters = new Map(pairs);
  const pageSize = readWhole(parameters.get("PageSize"), DEFAULT_PAGE_SIZE) ?? 0;
  if (pageSize < 1) throw new EmulatorError(rules.invalidPageSize, "Invalid PageSize");
  if (pageSize > MAX_PAGE_SIZE) {
    throw new EmulatorError(rules.invalidPageSize, "Page size too large");
  }
  const page = readWhole(parameters.get("Page"), 0);
  if (page === undefined) throw new EmulatorError(rules.invalidPage, "Invalid Page");
  const pageToken = parameters.get("PageToken");
  if (pageToken === undefined || pageToken === "") return { pageSize, page };
  const place = readToken(pageToken, rules.prefix);
  if (place === undefined) throw new EmulatorError(rules.invalidPageToken, "Invalid PageToken");
  return { pageSize, page, pageToken, place };
}

/** Selects a page of all items. */
export function cutPage<Item extends { sid: string }>(
  all: Iterable<Item>,
  positionOf: (item: Item) => Position,
  query: PageParameters,
  { compare }: ListRules,
): ListPage<Item> {
  const sorted = [...all].toSorted((a, b) => compare(positionOf(a), positionOf(b)));
  const { page, pageSize, place } = query;
  // Without a token, the first page: every item from the beginning.
  const { includes, fromEnd } = SIDES[place?.side ?? "PA"];
  const eligible = sorted.filter(
    (item) => place === undefined || includes(compare(positionOf(item), place.position)),
  );
  const items = fromEnd ? eligible.slice(-pageSize) : eligible.slice(0, pageSize);

  const [first] = items;
  const last = items.at(-1);
  let before: Place | undefined;
  let after: Place | undefined;
  if (first !== undefined && last !== undefined) {
    if (first !== sorted[0]) before = { side: "PB", position: positionOf(first) };
    if (last !== sorted.at(-1)) after = { side: "PA", position: positionOf(last) };
  } else if (place !== undefined && sorted.length > 0) {
    // All items of this page were deleted: the others are on the other side of its position.
    if (fromEnd) after = { side: "PF", position: place.position };
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

/** Writes the query of a page, with its parameters in the service's order. */
export function formatPageParameters({ pageSize, page, pageToken }: PageParameters): string {
  const token = pageToken === undefined ? "" : `&PageToken=${pageToken}`;
  return `PageSize=${pageSize}&Page=${page}${token}`;
}

function linkTo(place: Place, pageSize: number, page: number): PageParameters {
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
  // Base64 decoding is lenient: accept only the exact token that was issued.
  return writeToken(place) === token ? place : undefined;
}

function isSide(text: string): text is keyof typeof SIDES {
  return Object.hasOwn(SIDES, text);
}

function readWhole(text: string | undefined, byDefault: number): number | undefined {
  if (text === undefined || text === "") return byDefault;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
