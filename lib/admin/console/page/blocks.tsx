import type { ComponentChildren, SelectHTMLAttributes, TargetedEvent } from "preact";
import { type Action, Button, Writes } from "./action";
import { describeProblem, ProblemError } from "./api";
import { formatCount, formatDate } from "./format";
import { place, replacePlace } from "./route";
import { useEvery, useStore, type Loaded, type Loader, type Store } from "./store";

/** The meaning of a block: its colour follows. */
export type Tone = "good" | "warn" | "bad" | "info" | "off";

interface Children {
  children?: ComponentChildren;
}

/** A page with its title, its buttons, and the value of a loader or the error of its load. */
export function LoadedPage<Value>(props: {
  title: string;
  loader: Loader<Value>;
  /** The title when the load has failed. */
  failed: string;
  /** How often it is loaded again; undefined when only the button does. */
  refreshMs?: number | undefined;
  /** The action that creates an item of the list. */
  create?: Action;
  /** Stays when nothing could be loaded. */
  top?: ComponentChildren;
  children: (value: Value) => ComponentChildren;
}) {
  const { title, loader, top } = props;
  return (
    <section aria-label={title}>
      <div class="page-head">
        <h2 tabIndex={-1}>{title}</h2>
        <div class="buttons">
          <Button run={loader.reload}>Refresh</Button>
          <Writes actions={[props.create]} />
        </div>
      </div>
      {top}
      <LoadedValue {...props} />
    </section>
  );
}

/** The value that was loaded last, and why the last load failed: what was loaded before stays. */
export function LoadedValue<Value>(
  props: Pick<
    Parameters<typeof LoadedPage<Value>>[0],
    "loader" | "failed" | "refreshMs" | "children"
  >,
) {
  const { loader, failed, refreshMs, children } = props;
  const { value, error } = useStore<Loaded<Value>>(loader);
  // What is gone, or not allowed, stays so.
  const isFinal = error instanceof ProblemError && [403, 404].includes(error.status);
  useEvery(isFinal ? undefined : refreshMs, loader.reload);
  return (
    <>
      {error !== undefined && (
        <Notice tone="bad" title={failed} button={<Button run={loader.reload}>Try again</Button>}>
          {describeProblem(error)}
        </Notice>
      )}
      {value === undefined ? error === undefined && <p class="state">Loading.</p> : children(value)}
    </>
  );
}

/** A block that stands where a list would: nothing is there, or it could not be read. */
export function EmptyState({ title, children }: Children & { title: string }) {
  return (
    <div class="panel state">
      <b>{title}</b>
      {children}
    </div>
  );
}

/** A word on a coloured ground. */
export function Pill({ tone, children }: Children & { tone: Tone }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}

/** Something that needs attention, with the button that mends it or leads to it. */
export function Notice(
  props: Children & { tone: Tone; title: ComponentChildren; button?: ComponentChildren },
) {
  return (
    <div class={`notice ${props.tone}`}>
      <div class="text">
        <b>{props.title}</b> {props.children}
      </div>
      {props.button}
    </div>
  );
}

/** One figure with its label and a note; the tone colours it. */
export type Figure = readonly [
  label: string,
  count: number | undefined,
  note?: string,
  tone?: Tone,
];

/** Figures side by side. */
export function Cards({ label, figures }: { label: string; figures: readonly Figure[] }) {
  return (
    <dl class="cards" aria-label={label}>
      {figures.map(([name, count, note, tone = ""]) => (
        <div class="card" key={name}>
          <dt>{name}</dt>
          <dd class={`figure ${count === 0 ? "" : tone}`}>
            {count === undefined ? "–" : formatCount(count)}
          </dd>
          <dd class="muted">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A column of a table. */
export interface Column<Row> {
  /** The class of its cells. */
  name: string;
  title: ComponentChildren;
  /** A width of a grid: its minimum holds every text that is not cut. */
  width: string;
  show: (row: Row) => ComponentChildren;
}

/** A table of lines; where its columns do not fit, each line is a block. */
export function Table(
  props: Children & { label: string; class: string; columns: readonly Column<never>[] },
) {
  const { label, columns, children } = props;
  return (
    <table
      role="table"
      class={props.class}
      aria-label={label}
      style={{ gridTemplateColumns: columns.map(({ width }) => width).join(" ") }}
    >
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, title }) => (
            <th role="columnheader" class={name} key={name}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  );
}

/** The cells of a line. */
export function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return columns.map(({ name, show }) => {
    const cell = show(row);
    return (
      <td role="cell" class={cell === undefined ? `${name} idle` : name} key={name}>
        {cell ?? "–"}
      </td>
    );
  });
}

/** The values of a list to choose from, with their texts. */
export type Options = readonly (readonly [value: string, text: string])[];

/** A list to choose one value from. */
export function Select(props: { label: string; options: Options } & SelectHTMLAttributes) {
  const { label, options, ...select } = props;
  return (
    <select aria-label={label} {...select}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A form whose fields are part of the address: a search, which the key `/` leads to, and lists. */
export function FilterForm(props: {
  search: string;
  lists: readonly (readonly [name: string, options: Options])[];
}) {
  const { search, lists } = props;
  const { id, query } = useStore(place);
  function filter({ currentTarget }: TargetedEvent<HTMLFormElement>): void {
    const fields = [...new FormData(currentTarget)] as [string, string][];
    replacePlace({ id, query: new URLSearchParams(fields.filter(([, value]) => value !== "")) });
  }
  return (
    <form class="panel-head filters" onInput={filter} onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        class="search"
        name="q"
        aria-label={search}
        placeholder={search}
        autocomplete="off"
        spellcheck={false}
        value={query.get("q") ?? ""}
      />
      {lists.map(([name, options]) => {
        const value = query.get(name) ?? "";
        // A link may name a value that is not listed.
        const isListed = options.some(([option]) => option === value);
        const all = isListed ? options : [...options, [value, value] as const];
        return (
          all.length > 1 && <Select key={name} {...{ name, value }} label={name} options={all} />
        );
      })}
    </form>
  );
}

/** A time with its date. */
export function Time({ atMs }: { atMs: number }) {
  return <time dateTime={new Date(atMs).toISOString()}>{formatDate(atMs)}</time>;
}

/** A checkbox that selects an item. */
export function SelectBox<Id extends number | string>(props: {
  ids: Store<readonly Id[]>;
  id: Id;
  isSelected: boolean;
  label: string;
}) {
  const { ids, id, isSelected, label } = props;
  const toggle = () =>
    ids.set(isSelected ? ids.value.filter((other) => other !== id) : [...ids.value, id]);
  return <input type="checkbox" aria-label={label} checked={isSelected} onChange={toggle} />;
}
