import { parseJson } from "../../form/json";
import { chooseLetters } from "../letter-choice";
import { readErrorText } from "./error-text";
import type { SqliteConnection } from "./node-sqlite";
import type { LetterQuery, LetterRow, Operations } from "./protocol";

/** The dead letters: the events that have a `failed_at`. Its methods run in a transaction. */
export type LetterTable = Pick<Operations, "letters" | "retry" | "retrySome" | "discard">;

const PAGE = 100;

/** Creates the view of the dead letters. */
export function createLetterTable(connection: SqliteConnection): LetterTable {
  const list = connection.prepare(`
    SELECT id, body, error, started, failed_at FROM event
    WHERE (failed_at, id) > (?, ?) AND failed_at <= ? ORDER BY failed_at, id LIMIT ${PAGE}`);
  const find = connection.prepare(
    "SELECT id, body FROM event WHERE uuid = ? AND failed_at IS NOT NULL",
  );
  const reset =
    "SET failed_at = NULL, error = NULL, started = 0, failures = 0, stalls = 0, run_at = ?";
  const retryOne = connection.prepare(`UPDATE event ${reset} WHERE id = ?`);
  const retryOldest = connection.prepare(`
    UPDATE event ${reset} WHERE id IN (
      SELECT id FROM event WHERE failed_at <= ? ORDER BY failed_at, id LIMIT ${PAGE}
    )`);
  const remove = connection.prepare("DELETE FROM event WHERE id = ?");

  /** Runs for each dead letter that is meant; not when they are of several accounts. */
  function change(query: LetterQuery, run: (id: number) => void): number | "ambiguous" {
    const found = find.all(query.uuid);
    const chosen = chooseLetters(found, ({ body }) => parseJson(String(body)), query);
    if (chosen === undefined) return "ambiguous";
    for (const { id } of chosen) run(Number(id));
    return chosen.length;
  }

  return {
    letters({ afterId, afterMs, untilMs }) {
      return list.all(afterMs, afterId, untilMs).map((row): LetterRow => ({
        id: Number(row.id),
        body: String(row.body),
        error: readErrorText(String(row.error)),
        started: Number(row.started),
        failedAt: Number(row.failed_at),
      }));
    },
    retry: (query) => change(query, (id) => void retryOne.run(Date.now(), id)),
    retrySome: (untilMs) => Number(retryOldest.run(Date.now(), untilMs).changes),
    discard: (query) => change(query, (id) => void remove.run(id)),
  };
}
