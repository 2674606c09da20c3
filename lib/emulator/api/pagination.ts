import type { Pair } from "../../kit/pairs";
import { EmulatorError, type EmulatorErrorCode } from "../emulator-error";
import type { EndpointRequest } from "./endpoint-router";
import { encodeForm } from "../../kit/text";
import { isSid, type SidPrefix } from "../../kit/sid";

/** Order of a list, by a date and then by SID, and the codes of its errors. */
export interface ListRules {
  prefix: SidPrefix;
  /** How the members of a response name its links. */
  unit: "uri" | "url";
  sortedBy: "date_created" | "date_updated";
  newestFirst: boolean;
  /** Code of the error for an invalid value of each parameter. */
  invalid: Readonly<Record<"PageSize" | "Page" | "PageToken", EmulatorErrorCode>>;
}

type ListItem = { sid: string } & Record<ListRules["sortedBy"], string>;

/**
 * Where a page begins or ends. A position instead of a count: items that are created or deleted
 * between two requests repeat or hide no other item.
 */
interface Position {
  seconds: number;
  sid: string;
}

/** `PA`: the page begins at the position; `PB`: it ends before the position. */
type Side = "PA" | "PB";

const PAGE_PARAMETERS: ReadonlySet<string> = new Set(["PageSize", "Page", "PageToken"]);
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;

/**
 * Selects the page of a list that the parameters of a query name (specification, section 8). Throws the
 * errors that `rules` has for invalid ones.
 */
export function cutPage<Item extends ListItem>(
  all: Iterable<Item>,
  parameters: readonly Pair[],
  url: string,
  rules: ListRules,
) {
  const { pageSize, page, token, side, position } = readPageParameters(parameters, rules);
  const positionOf = (item: Item) => ({
    seconds: Date.parse(item[rules.sortedBy]) / 1000,
    sid: item.sid,
  });
  const compare = (a: Position, b: Position) =>
    (rules.newestFirst ? b.seconds - a.seconds : a.seconds - b.seconds) ||
    (a.sid < b.sid ? -1 : Number(a.sid > b.sid));
  const sorted = [...all].toSorted((a, b) => compare(positionOf(a), positionOf(b)));
  // Without a token, the first page.
  const before = sorted.filter((one) => position && compare(positionOf(one), position) < 0).length;
  const start = side === "PB" ? Math.max(before - pageSize, 0) : before;
  const end = side === "PB" ? before : before + pageSize;
  const [first] = sorted.slice(start, end);
  const following = sorted[end];
  // When all items of this page were deleted, the previous page ends before the position of the token.
  const beginning = first === undefined ? position : positionOf(first);
  const filters = parameters.filter(([name]) => !PAGE_PARAMETERS.has(name));
  const filterQuery = filters.length === 0 ? "" : `${encodeForm(filters)}&`;
  const linkTo = (index: number, pageToken = "") =>
    `${url}?${filterQuery}PageSize=${pageSize}&Page=${index}${pageToken && `&PageToken=${pageToken}`}`;
  const { unit } = rules;
  return {
    items: sorted.slice(start, end),
    /** Number of items before this page. */
    start: first === undefined ? 0 : start,
    meta: {
      // Index from 0, for the response and its links; the page token alone selects the page.
      page,
      page_size: pageSize,
      [unit]: linkTo(page, token),
      [`first_page_${unit}`]: linkTo(0),
      [`previous_page_${unit}`]:
        start === 0 || beginning === undefined
          ? null
          : linkTo(Math.max(page - 1, 0), writeToken("PB", beginning)),
      [`next_page_${unit}`]:
        following === undefined ? null : linkTo(page + 1, writeToken("PA", positionOf(following))),
    },
  };
}

/** Returns a page of a list of the verification API (section 2.4), in the order of creation. */
export function listPage<Item extends ListItem>(
  request: EndpointRequest,
  key: string,
  prefix: SidPrefix,
  all: Iterable<Item>,
  toResource: (item: Item, request: EndpointRequest) => unknown,
  newestFirst = false,
): object {
  const code = "REQUEST_INVALID";
  const invalid = { PageSize: code, Page: code, PageToken: code } as const;
  const rules = { prefix, unit: "url", sortedBy: "date_created", newestFirst, invalid } as const;
  const { items, meta } = cutPage(all, request.query, request.url, rules);
  return { [key]: items.map((item) => toResource(item, request)), meta: { ...meta, key } };
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
  const side = token.startsWith("PB") ? "PB" : "PA";
  const [seconds = "", sid = ""] = Buffer.from(token.slice(2), "base64url").toString().split(":");
  const position = { seconds: Number(seconds), sid };
  // Base64 decoding is lenient: accept only the exact token that was issued.
  if (!isSid(prefix, sid) || !/^\d{1,12}$/.test(seconds) || writeToken(side, position) !== token) {
    throw new EmulatorError(invalid.PageToken, "Invalid PageToken");
  }
  return { pageSize, page, token, side, position };
}

function writeToken(side: Side, { seconds, sid }: Position): string {
  return side + Buffer.from(`${seconds}:${sid}`).toString("base64url");
}

function readWhole(text: string | undefined, byDefault: number): number | undefined {
  if (text === undefined || text === "") return byDefault;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
