import type { LoginSearch, PendingWaitRow } from "../console-view";
import { send } from "./api";
import { Fold, LoadedValue, Time } from "./blocks";
import { formatAge, formatDate, plural } from "./format";
import { hasProcesses, live, MAX_ROWS } from "./live";
import { Fact, Facts, Received } from "./received";
import { linkTo, linkToRequests, place } from "./route";
import { createLoader, createStore } from "./store";

/** The text that was searched last. It may be an identity: it is posted, and in no address. */
const sought = createStore({ text: "", count: 0 });

const login = createLoader(async () => {
  const found: LoginSearch[] = [];
  for (;;) {
    const one = await send<LoginSearch>("POST", "console/search", { text: sought.value.text });
    if (found.some(({ process }) => process.id === one.process.id)) return found;
    found.push(one);
    // Behind a balancer, the next request may reach another one.
    if (!hasProcesses()) return found;
  }
});

/** Searches the requests, the queue, the waits and the service for a login. */
export function searchLogin(text: string): void {
  if (text.trim() === "") return;
  login.value = undefined;
  sought.value = { text: text.trim(), count: sought.value.count + 1 };
}

/** Returns the ids of the requests that a search for the text has found. */
export function findFoundIds(text: string): readonly string[] {
  return text === sought.value.text ? (login.value ?? []).flatMap(({ ids }) => ids) : [];
}

/** What the service, the waits and the queue know of the login that was searched. */
export function FoundLogin() {
  const text = (place.value.query.get("q") ?? "").trim();
  const { count } = sought.value;
  if (text === "" || text !== sought.value.text) return null;
  return (
    <LoadedValue key={count} loader={login} what="result of the search">
      {(found) => (
        <Facts class="wide">
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
      says <b>{status}</b>
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

const pending = createLoader(() => send<PendingWaitRow[]>("GET", "console/waits"));

/** The logins that wait for their challenge. */
export function PendingWaits({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Fold title={plural(count, "pending wait")}>
      <LoadedValue loader={pending} what="waits" refreshMs={5_000}>
        {(waits) => <Facts class="wide">{waits.map(toFact)}</Facts>}
      </LoadedValue>
    </Fold>
  );
}
