import type { ComponentChildren, SelectHTMLAttributes } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./action";
import { describeProblem, ProblemError, session } from "./api";
import { formatAge, formatCount, formatDate } from "./format";
import { useEvery, type Loader } from "./store";

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
        <Age atMs={loader.atMs} />
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
  // What is gone stays so.
  const isOver = () => loader.error instanceof ProblemError && loader.error.status === 404;
  useEvery(refreshMs, loader.refresh, isOver);
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

/** Says on each page and in each dialog that the session has ended. */
export function SignedOut() {
  if (!session.value.isOver) return null;
  const button = <Button label="Sign in again" run={() => location.reload()} />;
  return (
    <Notice tone="bad" title="You are signed out, or may not see this." button={button}>
      Nothing is read or changed until you sign in again.
    </Notice>
  );
}

/** How long ago something was read: it counts on by itself. */
export function Age({ atMs }: { atMs: number | undefined }) {
  const [, tick] = useState({});
  useEvery(1_000, () => tick({}));
  return atMs === undefined ? null : <small>read {formatAge(Date.now() - atMs)} ago</small>;
}

/** A word on a coloured ground. */
export const Pill = ({ tone, children }: Children & { tone: Tone }) => (
  <span class={`pill ${tone}`}>{children}</span>
);

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

/** A time, with its date unless another text is given. */
export function Time({ atMs, text = formatDate(atMs) }: { atMs: number; text?: string }) {
  return <time dateTime={new Date(atMs).toISOString()}>{text}</time>;
}
