import type { ChangeRow } from "../console-view";
import { Fold, Time } from "./blocks";
import { plural } from "./format";
import { journal } from "./journal";
import { Fact, Facts, Received } from "./received";

/** Lists the writes of people whose action begins with one of these words, the newest first. */
export function listChanges(...words: readonly string[]): readonly ChangeRow[] {
  const { changes = [] } = journal.value?.shown ?? {};
  return changes.filter(({ action = "" }) => words.some((word) => action.startsWith(word)));
}

/** Who has changed something, and when: the last one in the title. */
export function Changes({ of: words }: { of: readonly string[] }) {
  const changes = listChanges(...words);
  const [last] = changes;
  if (last === undefined) return null;
  return (
    <Fold title={["Last change: ", <Change {...last} />]}>
      <Facts class="wide">
        {changes.map(({ atMs, ...change }) => (
          <Fact name={<Time atMs={atMs} />}>
            <Change atMs={undefined} {...change} />
          </Fact>
        ))}
      </Facts>
    </Fold>
  );
}

function Change(props: Omit<ChangeRow, "atMs"> & { atMs: number | undefined }) {
  const { atMs, action, by, sid, uuid, error, count, before, status, code } = props;
  const result = status < 400 ? code : `${status} ${code ?? ""}`;
  const was = before && `was ${JSON.stringify(before)}`;
  const parts = [sid, uuid, error, count !== undefined && plural(count, "event"), was, result];
  return (
    <>
      <b>{by ?? "unknown"}</b>: {action}
      {parts.map((part) => Boolean(part) && [", ", <Received text={String(part)} />])}
      {atMs !== undefined && [", ", <Time atMs={atMs} />]}
    </>
  );
}
