import { useEffect, useRef } from "preact/hooks";
import type { RequestResult, RequestRow } from "../console-view";
import { Button } from "./action";
import { announce } from "./announcer";
import { formatCount, plural } from "./format";
import { place, setFilter } from "./route";
import { settings } from "./settings";
import { useStore } from "./store";
import { readSignedUrl } from "./webhook-traffic";

const ANNOUNCE_AFTER_MS = 700;

type Options = readonly (readonly [value: string, text: string])[];

/** Which results are shown, by the value of `show` in the address. */
const CHOICES: Options = [
  ["", "All"],
  ["accepted", "Accepted"],
  ["bad", "Rejected or failed"],
];
const BAD: ReadonlySet<RequestResult> = new Set(["rejected", "failed"]);
const TIMES: Options = [
  ["", "Any time"],
  ["5", "Last 5 minutes"],
  ["60", "Last hour"],
  ["1440", "Last day"],
];
const NAMES = ["show", "code", "type", "minutes", "url", "q"] as const;

/** Shows all requests again. */
export function clearFilter(): void {
  setFilter(Object.fromEntries(NAMES.map((name) => [name, ""])));
}

/** Returns the rows that the filter in the address lets through. */
export function filterRows(
  rows: readonly RequestRow[],
  query: URLSearchParams,
): readonly RequestRow[] {
  const [show, code, type, minutes, url, q = ""] = NAMES.map((name) => query.get(name) ?? "");
  const afterMs = minutes === "" ? 0 : Date.now() - 60_000 * Number(minutes);
  const sought = q.trim().toLowerCase();
  return rows.filter((row) => {
    const { uuid, accountSid, factorSid, challengeSid, target, pseudonym } = row;
    // A masked identity is not searched: a search for the identity itself would not find it.
    const entity = settings.reveals ? row.entity : undefined;
    const texts = [uuid, accountSid, factorSid, challengeSid, target, pseudonym, entity];
    return (
      (code !== "" || show === "" || BAD.has(row.result) === (show === "bad")) &&
      (code === "" || row.code === code) &&
      (type === "" || row.type === type) &&
      row.atMs >= afterMs &&
      (url === "" || readSignedUrl(row) === url) &&
      (sought === "" || texts.some((text) => text?.toLowerCase().includes(sought) === true))
    );
  });
}

/** The filters of the list, which live in the address. */
export function RequestFilter({ foundCount }: { foundCount: number }) {
  const { query } = useStore(place);
  const url = query.get("url");
  const timer = useRef(0);
  const count = useRef(0);
  count.current = foundCount;
  useEffect(() => () => clearTimeout(timer.current), []);
  const label = `Find by uuid, SID${settings.reveals ? ", path or entity" : " or path"}`;
  function find(text: string): void {
    setFilter({ q: text });
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => announce(`${plural(count.current, "request")} found.`),
      ANNOUNCE_AFTER_MS,
    );
  }
  return (
    <>
      <div class="chips" role="group" aria-label="Show">
        {CHOICES.map(([name, text]) => (
          <Chip
            key={name}
            isOn={name === (query.get("show") ?? "") && !query.has("code")}
            run={() => setFilter({ show: name, code: "" })}
          >
            {text}
          </Chip>
        ))}
        {url !== null && (
          <Chip isOn run={() => setFilter({ url: "" })}>
            {url} ×
          </Chip>
        )}
      </div>
      <FilterSelect
        name="type"
        label="Type"
        options={[["", "Any type"], ...settings.eventTypes.map((type) => [type, type] as const)]}
      />
      <FilterSelect name="minutes" label="Time" options={TIMES} />
      <input
        type="search"
        class="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={query.get("q") ?? ""}
        onInput={(event) => find(event.currentTarget.value)}
      />
    </>
  );
}

function FilterSelect({
  name,
  label,
  options,
}: Record<"name" | "label", string> & { options: Options }) {
  return (
    <select
      aria-label={label}
      value={useStore(place).query.get(name) ?? ""}
      onChange={(event) => setFilter({ [name]: event.currentTarget.value })}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

function Chip(props: { isOn: boolean; run: () => void; children: preact.ComponentChildren }) {
  const { isOn, ...button } = props;
  return <Button class="chip" aria-pressed={isOn} {...button} />;
}

/** A button for each code since the start, the most frequent first. */
export function CodeFilter({ byCode }: { byCode: Readonly<Record<string, number>> }) {
  const code = useStore(place).query.get("code") ?? "";
  const entries = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  if (entries.length === 0) return null;
  return (
    <div class="panel-head chips" role="group" aria-labelledby="codes-label">
      <small id="codes-label">By code</small>
      {entries.map(([name, count]) => (
        <Chip
          key={name}
          isOn={name === code}
          run={() => setFilter({ code: name === code ? "" : name })}
        >
          {name} <b>{formatCount(count)}</b>
        </Chip>
      ))}
    </div>
  );
}
