import { type Journal, MemoryJournal, type ReceiverInspection } from "../../core/door";
import { groupBy } from "../../kit/group-by";
import { maskIdentity } from "../../kit/masked-identity";
import { cutText } from "../../kit/text";
import { ApiError } from "../client/api-error";
import type { AdminClient } from "../client/client";
import { InputError } from "../client/input-error";
import type {
  DeadLetterRow,
  FoundChallenge,
  LoginSearch,
  PendingWaitRow,
  RequestRow,
} from "./console-view";
import type { History } from "./journal-view";
import { readField, toRow, type ConsoleQueue } from "./queue-view";
import { isBad, readSought, selectRows } from "./request-filter";

/** The places that a search looks at. */
export interface SearchedPlaces {
  client: AdminClient;
  history: History;
  journal: Journal;
  inspection: ReceiverInspection | undefined;
  queue: ConsoleQueue | undefined;
  reveals: boolean;
  processName: string;
}

const MAX_ROWS = 100;
const MAX_FOUND = 20;
const MAX_CHALLENGES = 3;

/** A trace of a challenge. */
interface Trace {
  challengeSid: string | undefined;
  atMs: number;
  /** Its user, if the trace tells it. */
  identity: string | undefined;
  /** The authenticated request that is the trace. */
  row?: RequestRow | undefined;
}

/**
 * Finds a login by the identity or the pseudonym of its user, its challenge, its factor or the uuid of
 * an event: in the requests, in the dead letters, in the waits of this process, and at the service. Of a
 * challenge whose user is not known here, the service needs the identity, too: `<challenge SID> <identity>`.
 */
export async function findLogin(text: string, places: SearchedPlaces): Promise<LoginSearch> {
  const { history, journal, inspection, reveals, processName } = places;
  const { sought, identity: given } = readSought(text);
  const person = await journal.createPseudonym(sought);
  const rows = selectRows(history.rows, { text }, person);
  const waits = (inspection?.listPendingWaits() ?? []).filter(
    ({ entityIdentity, challengeSid }) => entityIdentity === sought || challengeSid === sought,
  );
  const letters = await searchDeadLetters(sought, places);
  const toTrace = (row: RequestRow): Trace => {
    const { challengeSid, atMs } = row;
    return { challengeSid, atMs, identity: row.person === person ? sought : undefined, row };
  };
  const traces = waits.map((wait): Trace => {
    const { challengeSid, startedAtMs: atMs } = toWaitRow(wait, reveals);
    return { challengeSid, atMs, identity: wait.entityIdentity };
  });
  for (const { row, identity } of letters) {
    traces.push({ challengeSid: row.challengeSid, atMs: row.failedAtMs, identity });
  }
  if (given !== undefined) traces.push({ challengeSid: sought, atMs: Infinity, identity: given });
  // A client that knows an identity can send requests that claim it: they hide no others.
  const proven = rows.filter(({ isAuthenticated }) => isAuthenticated);
  const claims = rows.filter(({ isAuthenticated }) => !isAuthenticated);
  const known = chooseNewest([...traces, ...proven.map(toTrace)]);
  const sids = new Set(known.map(({ challengeSid }) => challengeSid));
  const claimed = chooseNewest(claims.map(toTrace)).filter((one) => !sids.has(one.challengeSid));
  const newest = [...known, ...claimed].toSorted((a, b) => b.atMs - a.atMs);
  const challenges = await Promise.all(newest.map((one) => askService(one, places)));
  const shown = [...proven.slice(0, MAX_ROWS), ...claims.slice(0, MAX_ROWS)];
  return {
    rows: shown.toSorted((a, b) => b.atMs - a.atMs),
    deadLetters: letters.map(({ row }) => row),
    waits: waits.map((wait) => toWaitRow(wait, reveals)),
    process: processName,
    isShared: journal.isShared,
    challenges,
  };
}

/** Reads all dead letters, as the store knows no identity. */
async function searchDeadLetters(
  sought: string,
  { queue, journal, reveals }: SearchedPlaces,
): Promise<{ row: DeadLetterRow; identity: string | undefined }[]> {
  const letters: { row: DeadLetterRow; identity: string | undefined }[] = [];
  for await (const deadLetter of queue?.deadLetters({ newestFirst: true }) ?? []) {
    const identity = readField(deadLetter.event, "entity_identity");
    const row = await toRow(deadLetter, journal, reveals);
    const { uuid, challengeSid, factorSid, person } = row;
    if ([identity, uuid, challengeSid, factorSid, person].includes(sought)) {
      letters.push({ row, identity });
    }
    if (letters.length === MAX_FOUND) break;
  }
  return letters;
}

/** Joins the traces of each challenge; returns the newest challenges. */
function chooseNewest(traces: readonly Trace[]): (Trace & { challengeSid: string })[] {
  const byChallenge = groupBy(traces, ({ challengeSid = "" }) => challengeSid);
  byChallenge.delete("");
  return [...byChallenge]
    .map(([challengeSid, same]) => ({
      challengeSid,
      atMs: Math.max(...same.map(({ atMs }) => atMs)),
      identity: same.find(({ identity }) => identity !== undefined)?.identity,
      row: same.find(({ row }) => row?.isAuthenticated === true)?.row,
    }))
    .toSorted((a, b) => b.atMs - a.atMs)
    .slice(0, MAX_CHALLENGES);
}

/** Reads the identity of a request whose event is kept in memory, or in the queue. */
async function readIdentity(
  { id, uuid = "", accountSid }: RequestRow,
  { journal, queue }: SearchedPlaces,
): Promise<string | undefined> {
  const kept = journal instanceof MemoryJournal ? journal.find(id) : undefined;
  const event = kept?.event ?? (await queue?.find(uuid, { accountSid }))?.event;
  return readField(event, "entity_identity");
}

/** Shows a wait as the console may. */
function toWaitRow(
  wait: ReturnType<ReceiverInspection["listPendingWaits"]>[number],
  reveals: boolean,
): PendingWaitRow {
  const { challengeSid, entityIdentity, startMs } = wait;
  return {
    challengeSid,
    entity: reveals ? cutText(entityIdentity) : maskIdentity(entityIdentity),
    startedAtMs: Math.round(performance.timeOrigin + startMs),
  };
}

/** Asks the service for a challenge, if its user is known. */
async function askService(
  { challengeSid, identity, row }: Trace & { challengeSid: string },
  places: SearchedPlaces,
): Promise<FoundChallenge> {
  const { client, history } = places;
  const own = history.rows.filter((one) => one.challengeSid === challengeSid);
  const found = {
    challengeSid,
    status: null,
    date_responded: null,
    problem: undefined,
    requests: own.length,
    bad: own.filter(isBad).length,
  };
  const entityIdentity = identity ?? (row && (await readIdentity(row, places)));
  if (entityIdentity === undefined) return { ...found, problem: "NOT_ASKED" };
  try {
    const { status, date_responded } = await client.challenges.fetch({
      challengeSid,
      entityIdentity,
    });
    return { ...found, status, date_responded };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof InputError)) throw error;
    const isMissing = error instanceof ApiError && error.status === 404;
    return { ...found, problem: isMissing ? "NOT_FOUND" : error.code };
  }
}
