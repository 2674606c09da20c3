import { formatCount } from "./format";

/** One figure with its label and a note; the tone colours it. */
export interface Figure {
  label: string;
  count: number | undefined;
  note: string;
  tone?: string;
}

/** Figures side by side. */
export function Cards({ label, figures }: { label: string; figures: readonly Figure[] }) {
  return (
    <dl class="cards" aria-label={label}>
      {figures.map(({ label: name, count, note, tone = "" }) => (
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
