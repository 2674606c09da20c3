import type { ShownHistory } from "../shown-history";
import { Time } from "./blocks";
import { plural } from "./format";
import { journal } from "./journal";
import { Received } from "./received";

type ChangeRow = ShownHistory["changes"][number];

/** Lists the writes of people whose action begins with one of these words, the newest first. */
export function listChanges(...words: readonly string[]): readonly ChangeRow[] {
  const { changes = [] } = journal.value?.shown ?? {};
  return changes.filter(({ action = "" }) => words.some((word) => action.startsWith(word)));
}

/** Who has changed something, and when: the last one in the title. */
export function Changes({ of: words }: { of: readonly string[] }) {
  const [last, ...others] = listChanges(...words);
  if (last === undefined) return null;
  return (
    <details class="panel">
      <summary>
        Last change: <Change {...last} />
      </summary>
      {others.map((change) => (
        <p class="wide">
          <Change {...change} />
        </p>
      ))}
    </details>
  );
}

function Change(change: ChangeRow) {
  const { atMs, action, by, sid, uuid, error, count, before, status, code } = change;
  const result = status < 400 ? code : `${status} ${code ?? ""}`;
  const was = before && `was ${JSON.stringify(before)}`;
  const parts = [sid, uuid, error, count !== undefined && plural(count, "event"), was, result];
  return (
    <>
      <b>{by ?? "unknown"}</b>: {action}
      {parts.map((part) => part && [", ", <Received text={String(part)} />])}, <Time atMs={atMs} />
    </>
  );
}
