import type { LoginSearch } from "../find-login";
import { read } from "./api";
import { LoadedValue, Time } from "./blocks";
import { formatAge, formatDate, plural } from "./format";
import { Fact, Received, RequestsLink } from "./received";
import { linkTo, place } from "./route";
import { createStore, Loader } from "./store";

/** A search for a text. It may be an identity: it is posted, and in no address. */
const createSearch = (text: string) => ({
  text,
  loader: new Loader(() => read<LoginSearch>("console/search", { text })),
});

const last = createStore(createSearch(""));

/** Searches the requests, the dead letters, the waits and the service for a login. */
export function searchLogin(text: string): void {
  if (text.trim() !== "") last.value = createSearch(text.trim());
}

/** What the service, the waits and the queue know of the login that was searched. */
export function FoundLogin() {
  const { text, loader } = last.value;
  if (text === "" || text !== place.value.query.get("q")?.trim()) return null;
  return (
    <LoadedValue key={loader} loader={loader} what="result of the search">
      {({ found, challenges, waits, deadLetters, process, problem }) => (
        <dl class="facts wide">
          {challenges.map((challenge) => (
            <Fact key={challenge.challengeSid} name="Service">
              <ChallengeState {...challenge} />
            </Fact>
          ))}
          {waits.map(({ challengeSid, entity, startedAtMs }) => (
            <Fact key={challengeSid} name="Waits">
              <RequestsLink q={challengeSid} /> of <Received text={entity} />, for{" "}
              {formatAge(Date.now() - startedAtMs)}
            </Fact>
          ))}
          {waits.length === 0 && (
            <Fact name="Waits">none in process {process}; no other was asked</Fact>
          )}
          {deadLetters.map(({ uuid, failedAtMs }) => (
            <Fact key={uuid} name="Dead letter">
              <a href={linkTo("queue", uuid)}>
                <Received text={uuid} />
              </a>
              , failed <Time atMs={failedAtMs} />
            </Fact>
          ))}
          <Fact name="Found">
            {found + challenges.length + waits.length + deadLetters.length === 0 &&
              `nothing among requests and dead letters. The service ${describeUntold(problem)}`}
          </Fact>
        </dl>
      )}
    </LoadedValue>
  );
}

/** Says why the service has told nothing. */
function describeUntold(problem: string | undefined): string {
  if (problem === "NOT_ASKED") return "was not asked: enter <challenge SID> <identity>";
  const isKnown = problem === undefined || problem === "NOT_FOUND";
  return isKnown ? "knows no such challenge of this user" : `does not say (${problem})`;
}

/** What the service says of a challenge, and what became of its webhook requests. */
function ChallengeState(challenge: LoginSearch["challenges"][number]) {
  const { challengeSid, status, date_responded, problem, requests, bad } = challenge;
  const at = date_responded === null ? "" : ` at ${formatDate(date_responded)}`;
  const said = problem === undefined ? `says ${status}${at}` : describeUntold(problem);
  const arrived = requests === 0 ? "no webhook request" : plural(requests, "webhook request");
  return (
    <>
      <b>{said}</b> of <RequestsLink q={challengeSid} />; {arrived} of it arrived
      {bad > 0 && <b>, {bad} rejected or failed</b>}
    </>
  );
}
