import { useEffect, useRef } from "preact/hooks";
import type { RequestResult, RequestRow } from "../console-view";
import { announce } from "./announcer";
import { formatCount, plural } from "./format";
import { place, setFilter } from "./route";
import { settings } from "./settings";
import { useStore } from "./store";
import { readSignedUrl } from "./webhook-traffic";

const ANNOUNCE_AFTER_MS = 700;

/** Which results are shown, by the value of `show` in the address. */
const CHOICES: readonly (readonly [
  show: string,
  label: string,
  results?: readonly RequestResult[],
])[] = [
  ["", "All"],
  ["accepted", "Accepted", ["handled", "stored", "duplicate", "conflict"]],
  ["bad", "Rejected or failed", ["rejected", "failed"]],
];
const TIMES = [
  ["", "Any time"],
  ["5", "Last 5 minutes"],
  ["60", "Last hour"],
  ["1440", "Last day"],
] as const;
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
  const [show = "", code = "", type = "", minutes = "", url = "", q = ""] = NAMES.map(
    (name) => query.get(name) ?? "",
  );
  const results = CHOICES.find(([name]) => name === show)?.[2];
  const afterMs = minutes === "" ? 0 : Date.now() - 60_000 * Number(minutes);
  const sought = q.trim().toLowerCase();
  return rows.filter((row) => {
    // A masked identity is not searched: a search for the identity itself would not find it.
    const texts = [
      row.uuid,
      row.accountSid,
      row.factorSid,
      row.challengeSid,
      row.target,
      settings.reveals ? row.entity : "",
    ];
    return (
      (code === "" ? results?.includes(row.result) !== false : row.code === code) &&
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
  const show = query.get("show") ?? "";
  const q = query.get("q") ?? "";
  const url = query.get("url");
  const hasCode = query.has("code");
  const timer = useRef(0);
  const count = useRef(0);
  count.current = foundCount;
  useEffect(() => () => clearTimeout(timer.current), []);
  const label = settings.reveals
    ? "Find by uuid, SID, path or entity"
    : "Find by uuid, SID or path";
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
            isOn={name === show && !hasCode}
            onClick={() => setFilter({ show: name, code: "" })}
          >
            {text}
          </Chip>
        ))}
        {url !== null && (
          <Chip isOn onClick={() => setFilter({ url: "" })}>
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
        value={q}
        onInput={(event) => find(event.currentTarget.value)}
      />
    </>
  );
}

function FilterSelect(props: {
  name: string;
  label: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const { query } = useStore(place);
  const value = query.get(props.name) ?? "";
  return (
    <select
      aria-label={props.label}
      value={value}
      onChange={(event) => setFilter({ [props.name]: event.currentTarget.value })}
    >
      {props.options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

function Chip(props: { isOn: boolean; onClick: () => void; children: preact.ComponentChildren }) {
  return (
    <button type="button" class="chip" aria-pressed={props.isOn} onClick={props.onClick}>
      {props.children}
    </button>
  );
}

/** A button for each code since the start, the most frequent first. */
export function CodeFilter({ byCode }: { byCode: Readonly<Record<string, number>> }) {
  const code = useStore(place).query.get("code") ?? "";
  const entries = Object.entries(byCode).toSorted((a, b) => b[1] - a[1]);
  if (entries.length === 0) return null;
  return (
    <div class="codes">
      <span class="muted" id="codes-label">
        By code
      </span>
      <div class="chips" role="group" aria-labelledby="codes-label">
        {entries.map(([name, count]) => (
          <Chip
            key={name}
            isOn={name === code}
            onClick={() => setFilter({ code: name === code ? "" : name })}
          >
            {name} <b>{formatCount(count)}</b>
          </Chip>
        ))}
      </div>
    </div>
  );
}
