import type { ComponentChildren } from "preact";
import { Button } from "./action";
import { describeProblem } from "./api";
import { formatCount, formatDate } from "./format";
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
  refreshMs?: number;
  buttons?: ComponentChildren;
  /** Stays when nothing could be loaded. */
  top?: ComponentChildren;
  children: (value: Value) => ComponentChildren;
}) {
  const { title, loader, top, children } = props;
  const { value, error } = useStore<Loaded<Value>>(loader);
  useEvery(props.refreshMs, loader.reload);
  return (
    <section aria-label={title}>
      <div class="page-head">
        <h2 tabIndex={-1}>{title}</h2>
        <div class="buttons">
          <Button run={loader.reload}>Refresh</Button>
          {props.buttons}
        </div>
      </div>
      {top}
      {error !== undefined ? (
        <EmptyState title={props.failed}>
          <p>{describeProblem(error)}</p>
          <Button run={loader.reload}>Try again</Button>
        </EmptyState>
      ) : value === undefined ? (
        <p class="state">Loading.</p>
      ) : (
        children(value)
      )}
    </section>
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

/** A column of a table: the class of its cells, and its title. */
export type Column = readonly [name: string, title: ComponentChildren];

/** A table of lines; on a narrow screen each of them is a block. */
export function Table(
  props: Children & { label: string; class: string; columns: readonly Column[] },
) {
  const { label, columns, children } = props;
  return (
    <table class={props.class} aria-label={label}>
      <thead>
        <tr>
          {columns.map(([name, title]) => (
            <th class={name} key={name}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** The values of a list to choose from, with their texts. */
export type Options = readonly (readonly [value: string, text: string])[];

/** A list to choose one value from. */
export function Select(props: {
  label: string;
  options: Options;
  name?: string;
  value: string;
  onChange?: (value: string) => void;
}) {
  const { label, options, name, value, onChange } = props;
  return (
    <select
      aria-label={label}
      name={name}
      value={value}
      onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
    >
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A field to search a list with; the key `/` leads to it. */
export function Search(props: { label: string; value: string; find: (text: string) => void }) {
  const { label, value, find } = props;
  return (
    <input
      type="search"
      class="search"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={({ currentTarget }) => find(currentTarget.value)}
    />
  );
}

/** A time with its date. */
export function Time({ atMs }: { atMs: number }) {
  return <time dateTime={new Date(atMs).toISOString()}>{formatDate(atMs)}</time>;
}

/** A box that takes a thing into a selection, or out of it. */
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
