import type { TargetedEvent } from "preact";
import { settings } from "./api";
import { type Options, Select, toOptions } from "./blocks";
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

/** The values of each filter, by its name in the address. */
function listOptions(): Readonly<Record<string, Options>> {
  const { totals, builds = [] } = journal.value?.shown ?? {};
  const codes = Object.entries(totals?.byCode ?? {}).toSorted((a, b) => b[1] - a[1]);
  const names = new Set(builds.flatMap(({ build }) => build ?? []));
  const time = place.value.query.get("time") ?? "";
  const bar = time.split("-").map((ms) => formatDate(Number(ms)));
  return {
    state: STATES,
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
    ...(names.size > 0 && { build: toOptions([...names]) }),
  };
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
