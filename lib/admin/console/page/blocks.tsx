import type { ComponentChildren } from "preact";
import { Button } from "./action";
import { describeProblem } from "./api";
import { formatCount } from "./format";
import { useStore, type Loader } from "./store";

/** What a tone means: its colour follows. */
export type Tone = "good" | "warn" | "bad" | "info" | "off";

interface Children {
  children?: ComponentChildren;
}

/** A page with its title and its buttons. */
export function Section(
  props: Children & { title: string; loader?: Loader<unknown>; buttons?: ComponentChildren },
) {
  const { title, loader, buttons, children } = props;
  const id = `${title.toLowerCase()}-title`;
  const heading = (
    <h2 id={id} tabIndex={-1} class={loader === undefined ? "unseen" : ""}>
      {title}
    </h2>
  );
  return (
    <section aria-labelledby={id}>
      {loader === undefined ? (
        heading
      ) : (
        <div class="page-head">
          {heading}
          <div class="buttons">
            <Button run={loader.reload}>Refresh</Button>
            {buttons}
          </div>
        </div>
      )}
      {children}
    </section>
  );
}

/** What a loader has loaded, or why it could not. */
export function LoadedBlock<Value>(props: {
  loader: Loader<Value>;
  failed: (error: unknown) => string;
  children: (value: Value) => ComponentChildren;
}) {
  const { value, error } = useStore<{ value?: Value | undefined; error?: unknown }>(props.loader);
  if (error !== undefined) {
    return (
      <EmptyState title={props.failed(error)}>
        <p>{describeProblem(error)}</p>
        <Button run={props.loader.reload}>Try again</Button>
      </EmptyState>
    );
  }
  return <>{value === undefined ? <p class="state">Loading.</p> : props.children(value)}</>;
}

/** A block that stands where a list would: nothing is there, or it could not be read. */
export function EmptyState({ title, children }: Children & { title: string }) {
  return (
    <div class="panel state">
      <p class="state-title">{title}</p>
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
