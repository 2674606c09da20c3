import type { ShownHistory } from "../shown-history";
import { Time } from "./blocks";
import { plural } from "./format";
import { journal } from "./journal";
import { Received } from "./received";

type ChangeRow = ShownHistory["changes"][number];

/** Who has changed what, the newest in the title: the writes whose action begins with one of these words. */
export function Changes({ of: words }: { of: readonly string[] }) {
  const { changes = [] } = journal.value?.shown ?? {};
  const [last, ...others] = changes.filter(({ action = "" }) =>
    words.some((word) => action.startsWith(word)),
  );
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
