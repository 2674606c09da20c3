import type { ComponentChildren, SelectHTMLAttributes, TargetedEvent } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./action";
import { describeProblem, ProblemError, settings } from "./api";
import { formatCount, formatDate } from "./format";
import { place, replacePlace } from "./route";
import { useEvery, type Loader, type Store } from "./store";

/** The meaning of a block: its colour follows. */
export type Tone = "good" | "warn" | "bad" | "info" | "off";

interface Children {
  children?: ComponentChildren;
}

interface LoadedProps<Value> {
  loader: Loader<Value>;
  /** The noun of the value, for the title when its load has failed. */
  what: string;
  /** How often it is loaded again; 0 when only the button does. */
  refreshMs?: number;
  children: (value: Value) => ComponentChildren;
}

/** A page with its title, its buttons, and the value of a loader or the error of its load. */
export function LoadedPage<Value>(
  props: Omit<LoadedProps<Value>, "what"> & {
    title: string;
    create?: ComponentChildren;
    /** Stays when nothing could be loaded. */
    top?: ComponentChildren;
  },
) {
  const { title, loader, create, top } = props;
  return (
    <section aria-label={title}>
      <div class="page-head">
        <h2 tabIndex={-1}>{title}</h2>
        <div class="buttons">
          <Button label="Refresh" run={loader.reload} />
          {create}
        </div>
      </div>
      {top}
      <LoadedValue what={title.toLowerCase()} {...props} />
    </section>
  );
}

/** The value that was loaded last, and why the last load failed: what was loaded before stays. */
export function LoadedValue<Value>(props: LoadedProps<Value>) {
  const { loader, what, refreshMs = 0, children } = props;
  const { value, error } = loader;
  const retry = <Button label="Try again" run={loader.reload} />;
  // What is gone, or not allowed, stays so.
  const isOver = () =>
    loader.error instanceof ProblemError && [403, 404].includes(loader.error.status);
  useEvery(refreshMs, loader.reload, isOver);
  return (
    <>
      {error !== undefined && (
        <Notice tone="bad" title={`The ${what} could not be read.`} button={retry}>
          {describeProblem(error)}
        </Notice>
      )}
      {value === undefined ? error === undefined && <p class="state">Loading.</p> : children(value)}
    </>
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

interface Figure {
  count: number | undefined;
  note?: ComponentChildren;
  tone?: Tone;
}

/** Figures side by side, by their names. */
export function Cards(props: { label: string; of: Readonly<Record<string, Figure>> }) {
  return (
    <dl class="cards" aria-label={props.label}>
      {Object.entries(props.of).map(([name, { count, note, tone = "" }]) => (
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

/** A panel that is folded at first; what is in it is not drawn before it is opened. */
export function Fold({ title, children }: Children & { title: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="panel" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}

/** The values of a list to choose from, with their texts. */
export type Options = Readonly<Record<string, string>>;

/** Makes a list of values that are their own texts. */
export const toOptions = (values: readonly string[]): Options =>
  Object.fromEntries(values.map((value) => [value, value]));

/** A list to choose one value from; its children come first. */
export function Select(props: { label: string; options: Options } & SelectHTMLAttributes) {
  const { label, options, children, ...select } = props;
  return (
    <select aria-label={label} {...select}>
      {children}
      {Object.entries(options).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A form whose fields are part of the place: a search, which the key `/` leads to, and others. */
export function FilterForm(
  props: Children & {
    label: string;
    /** Is called with the text of the search when it is sent. */
    search?: (text: string) => void;
  },
) {
  const { label, search } = props;
  const { id, query } = place.value;
  const text = query.get("q") ?? "";
  function filter({ currentTarget }: TargetedEvent<HTMLFormElement>): void {
    const fields = [...new FormData(currentTarget)] as [string, string][];
    replacePlace({ id, query: new URLSearchParams(fields.filter(([, value]) => value !== "")) });
  }
  return (
    <form
      class="panel-head scrolls"
      onInput={filter}
      onSubmit={(event) => {
        event.preventDefault();
        search?.(text);
      }}
    >
      <input
        type="search"
        class="search"
        name="q"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
      />
      {props.children}
    </form>
  );
}

/** A time, with its date unless another text is given. */
export function Time({ atMs, text = formatDate(atMs) }: { atMs: number; text?: string }) {
  return <time dateTime={new Date(atMs).toISOString()}>{text}</time>;
}

/** A checkbox that selects some items; none when the console only reads. */
export function SelectBox(props: {
  selected: Store<readonly string[]>;
  ids: readonly string[];
  label: string;
}) {
  const { selected, ids, label } = props;
  if (settings.readOnly || ids.length === 0) return null;
  const isSelected = ids.every((id) => selected.value.includes(id));
  // A line is not drawn again when others are selected: its action reads the store.
  function toggle(): void {
    const others = selected.value.filter((id) => !ids.includes(id));
    selected.value = isSelected ? others : [...others, ...ids];
  }
  return <input type="checkbox" aria-label={label} checked={isSelected} onChange={toggle} />;
}
