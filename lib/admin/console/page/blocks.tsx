import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./action";
import { describeProblem, session } from "./api";
import { formatAge, formatCount, formatDate } from "./format";
import { useEvery, type Loader } from "./store";

/** The meaning of a block: its colour follows. */
export type Tone = "good" | "warn" | "bad" | "info" | "off";

interface LoadedProps<Value> {
  loader: Loader<Value>;
  /** The noun of the value, for the title when its load has failed. */
  what: string;
  children: (value: Value) => ComponentChildren;
}

/** A page with its title, its buttons, and the value of a loader or the error of its load. */
export function LoadedPage<Value>(
  props: Omit<LoadedProps<Value>, "what"> & { title: string; create?: ComponentChildren },
) {
  const { title, loader, create } = props;
  return (
    <section aria-label={title}>
      <div class="page-head">
        <h2 tabIndex={-1}>{title}</h2>
        <Age atMs={loader.atMs} />
        <div class="buttons">{create}</div>
      </div>
      <LoadedValue what={title.toLowerCase()} {...props} />
    </section>
  );
}

/** The value that was loaded last, and why the last load failed: what was loaded before stays. */
export function LoadedValue<Value>(props: LoadedProps<Value>) {
  const { loader, what, children } = props;
  const { value, error } = loader;
  const retry = <Button label="Try again" run={loader.reload} />;
  useEffect(() => void loader.refresh(), []);
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
export const Pill = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`pill ${tone}`}>{children}</span>
);

/** Something that needs attention, with the button that mends it or leads to it. */
export function Notice(props: {
  tone: Tone;
  title: ComponentChildren;
  button?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <div class={`notice ${props.tone}`}>
      <div class="text">
        <b>{props.title}</b> {props.children}
      </div>
      {props.button}
    </div>
  );
}

/** A number, with what it means. */
export interface Figure {
  count: number | undefined;
  note?: ComponentChildren;
  isBad?: boolean;
}

/** Figures side by side, by their names. */
export function Cards(props: { label: string; of: Readonly<Record<string, Figure>> }) {
  return (
    <dl class="cards" aria-label={props.label}>
      {Object.entries(props.of).map(([name, { count, note, isBad }]) => (
        <div class="card" key={name}>
          <dt>{name}</dt>
          <dd class={`figure ${isBad && count ? "bad" : ""}`}>
            {count === undefined ? "–" : formatCount(count)}
          </dd>
          <dd class="muted">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The values of a list to choose from, with their texts. */
export type Options = Readonly<Record<string, string>>;

/** Makes a list of values that are their own texts. */
export const toOptions = (values: readonly string[]): Options =>
  Object.fromEntries(values.map((value) => [value, value]));

/** A time, with its date unless another text is given. */
export function Time({ atMs, text = formatDate(atMs) }: { atMs: number; text?: string }) {
  return <time dateTime={new Date(atMs).toISOString()}>{text}</time>;
}
