import type { TargetedEvent } from "preact";
import { settings } from "./api";
import { type Options, toOptions } from "./blocks";
import { formatCount, formatDate } from "./format";
import { journal } from "./journal";
import { searchLogin } from "./login-search";
import { place, replacePlace } from "./route";

const STATES: Options = {
  bad: "rejected or failed",
  ...toOptions(
    "accepted,handled,stored,failing,failed,dead,discarded,rejected,duplicate,conflict".split(","),
  ),
};
const TIMES: Options = { 5: "Last 5 minutes", 60: "Last hour", 1440: "Last day" };

/** The values of each filter, by its name in the address. */
function listOptions(): Readonly<Record<string, Options>> {
  const { totals, builds = [] } = journal.value?.shown ?? {};
  const codes = Object.entries(totals?.byCode ?? {}).toSorted((a, b) => b[1] - a[1]);
  const names = new Set(builds.flatMap(({ build }) => build ?? []));
  return {
    state: STATES,
    code: Object.fromEntries(
      codes.map(([code, count]) => [code, `${code} (${formatCount(count)})`]),
    ),
    type: toOptions(settings.eventTypes),
    time: TIMES,
    ...(names.size > 0 && { build: toOptions([...names]) }),
  };
}

/** The text of a value that a link names, and that is not listed: a period, or a code. */
const describeValue = (value: string): string =>
  value.replace(/^(\d+)-(\d+)$/, (_period, from: string, to: string) =>
    [from, to].map((ms) => formatDate(Number(ms))).join(" to "),
  );

function filter({ currentTarget }: TargetedEvent<HTMLFormElement>): void {
  const fields = [...new FormData(currentTarget)] as [string, string][];
  replacePlace({ query: new URLSearchParams(fields.filter(([, value]) => value !== "")) });
}

const LABEL = "Find by identity, uuid, SID or path";

/** The search and the filters of the list: they are part of the place. */
export function RequestFilter() {
  const { query } = place.value;
  const text = query.get("q") ?? "";
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
        const all = { ...(value !== "" && { [value]: describeValue(value) }), ...options };
        return (
          <select key={name} name={name} aria-label={name} value={value}>
            <option value="">Any {name}</option>
            {Object.entries(all).map(([one, label]) => (
              <option key={one} value={one}>
                {label}
              </option>
            ))}
          </select>
        );
      })}
    </form>
  );
}
