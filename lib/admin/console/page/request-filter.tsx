import type { TargetedEvent } from "preact";
import type { RequestRow } from "../console-view";
import { settings } from "./api";
import { type Options, Select, toOptions } from "./blocks";
import { formatCount, formatDate } from "./format";
import { live } from "./changes";
import { findFoundIds, searchLogin } from "./login-search";
import { place, replacePlace } from "./route";

const RESULTS: Options = {
  bad: "rejected or failed",
  ...toOptions(["accepted", "rejected", "failed", "failing", "duplicate", "conflict"]),
};

/** The result of a request; "failing" while the queue runs the handlers of its event again. */
export const stateOf = ({ result, failure }: RequestRow): string =>
  result === "stored" && failure !== undefined ? "failing" : result;

/** The filters by their name in the address. */
const FILTERS: Readonly<Record<string, (row: RequestRow, value: string) => boolean>> = {
  result(row, value) {
    const state = stateOf(row);
    const isBad = /rejected|failed|failing/.test(state);
    return value === state || (value === "bad" && isBad) || (value === "accepted" && !isBad);
  },
  code: ({ code }, value) => code === value,
  type: ({ type }, value) => type === value,
  // Minutes until now, or two times: a bar of the chart.
  time({ atMs }, value) {
    const [first = 0, toMs] = value.split("-").map(Number);
    return toMs === undefined ? atMs >= Date.now() - 60_000 * first : atMs >= first && atMs < toMs;
  },
};

function listOptions(): Readonly<Record<string, Options>> {
  const codes = Object.entries(live.value.totals?.byCode ?? {}).toSorted((a, b) => b[1] - a[1]);
  const time = place.value.query.get("time") ?? "";
  const bar = time.split("-").map((ms) => formatDate(Number(ms)));
  return {
    result: RESULTS,
    code: Object.fromEntries(
      codes.map(([code, count]) => [code, `${code} (${formatCount(count)})`]),
    ),
    type: toOptions(settings.eventTypes),
    time: {
      5: "Last 5 minutes",
      60: "Last hour",
      1440: "Last day",
      ...(bar.length > 1 && { [time]: bar.join(" to ") }),
    },
  };
}

/** Returns the rows that the filter lets through, and those that a search for the same has found. */
export function filterRows(
  rows: readonly RequestRow[],
  query: URLSearchParams,
): readonly RequestRow[] {
  const chosen = Object.entries(FILTERS).filter(([name]) => query.has(name));
  const text = (query.get("q") ?? "").trim();
  // Of `<challenge SID> <identity>`, the rows have the SID.
  const sought = text.toLowerCase().replace(/^(yc\w{32}) .*/, "$1");
  const found = findFoundIds(text);
  return rows.filter((row) => {
    const { id, uuid, accountSid, factorSid, challengeSid, claimed, target, pseudonym } = row;
    // A masked identity is not compared: only the server can.
    const entity = settings.reveals ? row.entity : undefined;
    const claims = Object.values<string | undefined>({ ...claimed });
    const texts = [uuid, accountSid, factorSid, challengeSid, target, pseudonym, entity, ...claims];
    return (
      chosen.every(([name, accepts]) => accepts(row, query.get(name) ?? "")) &&
      (found.includes(id) || texts.some((one = "") => one.toLowerCase().includes(sought)))
    );
  });
}

const LABEL = "Find by identity, uuid, SID or path";

/** The search, which the key `/` leads to, and the filters of the list: they are part of the place. */
export function RequestFilter() {
  const { id, query } = place.value;
  const text = query.get("q") ?? "";
  function filter({ currentTarget }: TargetedEvent<HTMLFormElement>): void {
    const fields = [...new FormData(currentTarget)] as [string, string][];
    replacePlace({ id, query: new URLSearchParams(fields.filter(([, value]) => value !== "")) });
  }
  function search(event: Event): void {
    event.preventDefault();
    searchLogin(text);
  }
  return (
    <form class="panel-head" onInput={filter} onSubmit={search}>
      <input
        type="search"
        class="search"
        name="q"
        aria-label={LABEL}
        placeholder={LABEL}
        autocomplete="off"
        spellcheck={false}
        value={text}
      />
      <button>Find</button>
      {Object.entries(listOptions()).map(([name, options]) => {
        const value = query.get(name) ?? "";
        // A link may name a value that is not listed.
        const all = { ...(value !== "" && { [value]: value }), ...options };
        return (
          <Select key={name} name={name} value={value} label={name} options={all}>
            <option value="">Any {name}</option>
          </Select>
        );
      })}
    </form>
  );
}
