import type { LoginSearch, PendingWaitRow } from "../console-view";
import { send } from "./api";
import { Fold, LoadedValue, Time } from "./blocks";
import { formatAge, formatDate, plural } from "./format";
import { countProcesses, live, MAX_ROWS } from "./changes";
import { Fact, Facts, Received } from "./received";
import { linkTo, linkToRequests, place } from "./route";
import { createLoader, createStore } from "./store";

/** A balancer may send several requests to one process before another one responds. */
const MAX_TURNS = 4;

/** A search for a text. It may be an identity: it is posted, and in no address. */
function createSearch(text: string) {
  const loader = createLoader(async () => {
    const found = new Map<string, LoginSearch>();
    for (let turn = 0; turn < MAX_TURNS * Math.max(countProcesses(), 1); turn++) {
      const one = await send<LoginSearch>("POST", "console/search", { text });
      found.set(one.process.id, one);
      if (found.size >= countProcesses()) break;
    }
    return [...found.values()];
  });
  return { text, loader };
}

const search = createStore(createSearch(""));

/** Searches the requests, the queue, the waits and the service for a login. */
export function searchLogin(text: string): void {
  if (text.trim() !== "") search.value = createSearch(text.trim());
}

/** Returns the ids of the requests that a search for the text has found. */
export function findFoundIds(text: string): readonly string[] {
  const { text: sought, loader } = search.value;
  return text.trim() === sought ? (loader.value ?? []).flatMap(({ ids }) => ids) : [];
}

/** What the service, the waits and the queue know of the login that was searched. */
export function FoundLogin() {
  const text = (place.value.query.get("q") ?? "").trim();
  const { loader } = search.value;
  if (text === "" || text !== search.value.text) return null;
  return (
    <LoadedValue key={loader} loader={loader} what="result of the search">
      {(found) => (
        <Facts class="wide">
          <Fact name="Processes">
            {found.length < countProcesses() &&
              `${found.length} of ${countProcesses()} responded: the result is not complete`}
          </Fact>
          <Fact name="Service">
            <ChallengeState found={found} />
          </Fact>
          {found.flatMap(({ waits }) => waits.map(toFact))}
          {found[0]?.deadLetters.map(({ uuid, failedAtMs }) => (
            <Fact key={uuid} name="Dead letter">
              <a href={linkTo("queue", uuid)}>
                <Received text={uuid} />
              </a>
              , failed <Time atMs={failedAtMs} />
            </Fact>
          ))}
        </Facts>
      )}
    </LoadedValue>
  );
}

/** What the service says of a challenge, and whether its event has arrived. */
function ChallengeState({ found }: { found: readonly LoginSearch[] }) {
  const challenges = found.flatMap(({ challenge }) => challenge ?? []);
  const challenge = challenges.find(({ problem }) => problem === undefined) ?? challenges[0];
  if (challenge === undefined) return <>was not asked: no challenge of it is known here</>;
  const { challengeSid, status, date_responded, problem } = challenge;
  if (problem === "NOT_FOUND") return <>{`knows no challenge ${challengeSid} of this user`}</>;
  if (problem !== undefined) return <>{`does not say (${problem}): ${challengeSid}`}</>;
  const { rows } = live.value;
  const requests = rows.filter((row) =>
    [row.challengeSid, row.claimed?.challengeSid].includes(challengeSid),
  );
  const isDecided = status === "approved" || status === "denied";
  const nowhere =
    rows.length === MAX_ROWS
      ? `of it is among the last ${MAX_ROWS}`
      : `reached ${found.length > 1 ? `these ${found.length} processes` : "this process"}`;
  return (
    <>
      says <b>{status}</b> of {challengeSid}
      {isDecided && ` at ${formatDate(date_responded)}`}
      {requests.length > 0
        ? `; ${plural(requests.length, "webhook request")} of it arrived`
        : isDecided && `; no webhook request ${nowhere}`}
    </>
  );
}

function toFact({ challengeSid, entity, startedAtMs }: PendingWaitRow) {
  return (
    <Fact name="Waits">
      <a href={linkToRequests(challengeSid)}>{challengeSid}</a> of <Received text={entity} />, for{" "}
      {formatAge(Date.now() - startedAtMs)}
    </Fact>
  );
}

/** The logins that wait for their challenge. */
export function PendingWaits() {
  const { totals, waits } = live.value;
  if (totals === undefined || waits.length === 0) return null;
  return (
    <Fold title={plural(totals.waits.count, "pending wait")}>
      <Facts class="wide">{waits.map(toFact)}</Facts>
    </Fold>
  );
}
