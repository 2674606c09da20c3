import type { Pair } from "../../form/form";
import { EmulatorError, type EmulatorErrorCode } from "../emulator-error";
import { encodeForm } from "../../form/text";
import { isSid, type SidPrefix } from "../../form/sid";

/** Order of a list, by a date and then by SID, and the codes of its errors. */
export interface ListRules {
  prefix: SidPrefix;
  sortedBy: "date_created" | "date_updated";
  newestFirst: boolean;
  /** Code of the error for an invalid value of each parameter. */
  invalid: Readonly<Record<"PageSize" | "Page" | "PageToken", EmulatorErrorCode>>;
}

/** Creates the order of a list of the verification API, with the code of its errors. */
export function orderBy(prefix: SidPrefix, newestFirst = false): ListRules {
  const code = "REQUEST_INVALID";
  const invalid = { PageSize: code, Page: code, PageToken: code } as const;
  return { prefix, sortedBy: "date_created", newestFirst, invalid };
}

/** One page of a list; its links are URLs. */
export interface ListPage<Item> {
  items: Item[];
  /** Index from 0. Shown in the response and in links; the page token alone selects the page. */
  page: number;
  pageSize: number;
  /** Number of items before this page. */
  start: number;
  url: string;
  first: string;
  previous: string | null;
  next: string | null;
}

interface Position {
  seconds: number;
  sid: string;
}

interface Place extends Position {
  side: keyof typeof SIDES;
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

const PAGE_PARAMETERS: ReadonlySet<string> = new Set(["PageSize", "Page", "PageToken"]);
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * Selects the page of a list that the parameters of a query name (specification, section 8).
 *
 * @param parameters a page size of 1 to 1000, by default 50; the index; the page token.
 * @param url the URL of the list, without a query.
 * @throws EmulatorError for an invalid parameter, with the code that `rules` has for it.
 */
export function cutPage<Item extends { sid: string } & Record<ListRules["sortedBy"], string>>(
  all: Iterable<Item>,
  parameters: readonly Pair[],
  url: string,
  rules: ListRules,
): ListPage<Item> {
  const { pageSize, page, place } = readPageParameters(parameters, rules);
  const positionOf = (item: Item) => ({
    seconds: Date.parse(item[rules.sortedBy]) / 1000,
    sid: item.sid,
  });
  const compare = (a: Position, b: Position) =>
    (rules.newestFirst ? b.seconds - a.seconds : a.seconds - b.seconds) ||
    (a.sid < b.sid ? -1 : Number(a.sid > b.sid));
  const sorted = [...all].toSorted((a, b) => compare(positionOf(a), positionOf(b)));
  // Without a token, the first page: every item from the beginning.
  const { includes, fromEnd } = SIDES[place?.side ?? "PA"];
  const eligible = sorted.filter(
    (item) => place === undefined || includes(compare(positionOf(item), place)),
  );
  const items = fromEnd ? eligible.slice(-pageSize) : eligible.slice(0, pageSize);

  const [first] = items;
  const last = items.at(-1);
  let before: Place | undefined;
  let after: Place | undefined;
  if (first !== undefined && last !== undefined) {
    if (first !== sorted[0]) before = { side: "PB", ...positionOf(first) };
    if (last !== sorted.at(-1)) after = { side: "PA", ...positionOf(last) };
  } else if (place !== undefined && sorted.length > 0) {
    // All items of this page were deleted: the others are on the other side of its position.
    if (fromEnd) after = { ...place, side: "PF" };
    else before = { ...place, side: "PU" };
  }
  const filters = parameters.filter(([name]) => !PAGE_PARAMETERS.has(name));
  const filterQuery = filters.length === 0 ? "" : `${encodeForm(filters)}&`;
  const linkTo = (index: number, to?: Place) => {
    const token = to === undefined ? "" : `&PageToken=${writeToken(to)}`;
    return `${url}?${filterQuery}PageSize=${pageSize}&Page=${index}${token}`;
  };
  return {
    items,
    page,
    pageSize,
    start: first === undefined ? 0 : sorted.indexOf(first),
    url: linkTo(page, place),
    first: linkTo(0),
    previous: before === undefined ? null : linkTo(Math.max(page - 1, 0), before),
    next: after === undefined ? null : linkTo(page + 1, after),
  };
}

/** Returns the envelope of a list of the verification API (section 2.4). */
export function toList<Item>(
  key: string,
  page: ListPage<Item>,
  toResource: (item: Item) => unknown,
) {
  return {
    [key]: page.items.map(toResource),
    meta: {
      page: page.page,
      page_size: page.pageSize,
      first_page_url: page.first,
      previous_page_url: page.previous,
      url: page.url,
      next_page_url: page.next,
      key,
    },
  };
}

function readPageParameters(pairs: readonly Pair[], { prefix, invalid }: ListRules) {
  const parameters = new Map(pairs);
  const pageSize = readWhole(parameters.get("PageSize"), DEFAULT_PAGE_SIZE) ?? 0;
  if (pageSize < 1) throw new EmulatorError(invalid.PageSize, "Invalid PageSize");
  if (pageSize > MAX_PAGE_SIZE) throw new EmulatorError(invalid.PageSize, "Page size too large");
  const page = readWhole(parameters.get("Page"), 0);
  if (page === undefined) throw new EmulatorError(invalid.Page, "Invalid Page");
  const token = parameters.get("PageToken") ?? "";
  if (token === "") return { pageSize, page };
  const place = readToken(token, prefix);
  if (place === undefined) throw new EmulatorError(invalid.PageToken, "Invalid PageToken");
  return { pageSize, page, place };
}

function writeToken({ side, seconds, sid }: Place): string {
  return side + Buffer.from(`${seconds}:${sid}`).toString("base64url");
}

function readToken(token: string, prefix: SidPrefix): Place | undefined {
  const side = token.slice(0, 2);
  if (!isSide(side)) return undefined;
  const [seconds = "", sid = ""] = Buffer.from(token.slice(2), "base64url").toString().split(":");
  if (!/^\d{1,12}$/.test(seconds) || !isSid(prefix, sid)) return undefined;
  const place = { side, seconds: Number(seconds), sid };
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
