import type { RequestRow } from "../console-view";
import { settings } from "./api";
import { FilterForm, type Options } from "./blocks";
import { formatCount, formatDate } from "./format";
import { live } from "./live";
import { place } from "./route";

/** The last time that a date can have. */
const MAX_TIME_MS = 8.64e15;

/** One choice that limits the list; its value is part of the address. */
interface Filter {
  name: string;
  /** The list is left out while there is nothing to choose. */
  list: () => Options;
  accepts: (row: RequestRow, value: string) => boolean;
}

const RESULTS: Options = [
  ["accepted", "Accepted"],
  ["bad", "Rejected or failed"],
  ["rejected", "Rejected"],
  ["failed", "Failed"],
  ["duplicate", "Duplicate"],
  ["conflict", "Conflict"],
];

const FILTERS: readonly Filter[] = [
  {
    name: "result",
    list: () => RESULTS,
    accepts({ result }, value) {
      const isBad = result === "rejected" || result === "failed";
      return value === result || (value === "bad" && isBad) || (value === "accepted" && !isBad);
    },
  },
  {
    name: "code",
    list: () =>
      Object.entries(live.value.totals?.byCode ?? {})
        .toSorted((a, b) => b[1] - a[1])
        .map(([code, count]) => [code, `${code} (${formatCount(count)})`]),
    accepts: ({ code }, value) => code === value,
  },
  {
    name: "type",
    list: () => settings.eventTypes.map((type) => [type, type]),
    accepts: ({ type }, value) => type === value,
  },
  {
    name: "time",
    list() {
      const chosen = place.value.query.get("time") ?? "";
      const [fromMs, toMs] = chosen.split("-").map(Number);
      return [
        ["5", "Last 5 minutes"],
        ["60", "Last hour"],
        ["1440", "Last day"],
        ...(toMs === undefined || !(Number(fromMs) < toMs && toMs < MAX_TIME_MS)
          ? []
          : [[chosen, `${formatDate(Number(fromMs))} to ${formatDate(toMs)}`] as const]),
      ];
    },
    // Minutes until now, or two times: a bar of the chart.
    accepts({ atMs }, value) {
      const [first = 0, toMs] = value.split("-").map(Number);
      return toMs === undefined
        ? atMs >= Date.now() - 60_000 * first
        : atMs >= first && atMs < toMs;
    },
  },
  {
    name: "url",
    list() {
      const urls = [...new Set(live.value.rows.flatMap((row) => readSignedUrl(row) ?? []))];
      return urls.length > 1 ? urls.map((url) => [url, url]) : [];
    },
    accepts: (row, value) => readSignedUrl(row) === value,
  },
];

/** The URL that a request was signed with, as far as it is known. */
export function readSignedUrl({ urlIndex, explanation }: RequestRow): string | undefined {
  if (urlIndex !== undefined) return settings.receiver?.publicUrls[urlIndex];
  return explanation?.isProven === true && explanation.code.startsWith("URL_")
    ? explanation.subject
    : undefined;
}

/** Returns the rows that the filter in the address lets through. */
export function filterRows(
  rows: readonly RequestRow[],
  query: URLSearchParams,
): readonly RequestRow[] {
  const chosen = FILTERS.filter(({ name }) => query.has(name));
  const sought = (query.get("q") ?? "").trim().toLowerCase();
  return rows.filter((row) => {
    const { uuid, accountSid, factorSid, challengeSid, target, pseudonym } = row;
    // A masked identity is not searched: a search for the identity itself would not find it.
    const entity = settings.reveals ? row.entity : undefined;
    const texts = [uuid, accountSid, factorSid, challengeSid, target, pseudonym, entity];
    return (
      chosen.every(({ name, accepts }) => accepts(row, query.get(name) ?? "")) &&
      (sought === "" || texts.some((text) => text?.toLowerCase().includes(sought) === true))
    );
  });
}

/** The filters of the list. */
export function RequestFilter() {
  return (
    <FilterForm
      search={`Find by uuid, SID${settings.reveals ? ", path or entity" : " or path"}`}
      lists={FILTERS.map(({ name, list }) => [name, [["", `Any ${name}`], ...list()]])}
    />
  );
}
