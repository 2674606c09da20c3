import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Explanation, QueuedState, RequestDetails, RequestRow, Resent } from "../console-view";
import { Button, Writes } from "./action";
import { ProblemError, readPublicUrl, send, settings } from "./api";
import { LoadedValue, Pill, Time } from "./blocks";
import { Dialog, openDialog } from "./dialog";
import { plural } from "./format";
import { CopyButton, type Fact, Facts, Received, UrlDifference } from "./received";
import { linkTo, place } from "./route";
import { createLoader, createStore, useStore } from "./store";
import { mendUrl, webhooks } from "./webhooks";

/** The ids of the requests that are ticked. */
export const selectedRequests = createStore<readonly string[]>([]);

const REFRESH_MS = 5_000;

/** All that is known of a request: the cause of a failure first. */
export function OpenRequest({ row }: { row: RequestRow }) {
  const { id, pseudonym, status, code = "" } = row;
  const ref = useRef<HTMLDivElement>(null);
  const loader = useMemo(
    () => createLoader(() => send<RequestDetails>("GET", `console/requests/${id}`)),
    [id],
  );
  useEffect(() => {
    if (!place.value.isLinked) return;
    document.getElementById(`request-${id}`)?.focus({ preventScroll: true });
    ref.current?.scrollIntoView({ block: "center" });
  }, [id]);
  return (
    <div class="box" ref={ref}>
      <Result row={row} />
      <Facts
        facts={[
          ["Request", row.target],
          ["Response", `${status} ${code}`],
          ["Handlers", row.failure],
          ["Ran again", row.resent && describeResent(row.resent)],
          ["uuid", row.uuid, true],
          ["Account", row.accountSid, true],
          ["Factor", row.factorSid, true],
          ["Challenge", row.challengeSid, true],
          ["User", pseudonym && <a href={linkToSearch(pseudonym)}>{pseudonym}</a>],
          ["Signed URL", settings.receiver?.publicUrls[row.urlIndex ?? -1]],
          ...row.issues.map((issue): Fact => ["Unreadable", issue]),
        ]}
      />
      <LoadedValue
        loader={loader}
        failed="The details could not be read."
        // The queue may run its handlers at any time, in any process.
        refreshMs={settings.hasQueue ? REFRESH_MS : undefined}
      >
        {(details) => <Details row={row} details={details} />}
      </LoadedValue>
    </div>
  );
}

/** What the row does not have: the state in the queue, headers, parameters, and the buttons. */
function Details({ row, details }: { row: RequestRow; details: RequestDetails }) {
  const { params, headers, responseHeaders, queued } = details;
  return (
    <>
      <Facts
        facts={[
          ["Queue", queued && <QueueState {...queued} uuid={row.uuid} />],
          ...(queued?.failures ?? []).map(({ atMs, error }): Fact => [
            "Failed",
            [<Time atMs={atMs} />, ": ", <Received text={error} />],
          ]),
          ...responseHeaders.map((header): Fact => ["Response header", header.join(": ")]),
        ]}
      />
      <details>
        <summary>Headers and parameters</summary>
        <Facts class="mono" facts={[...headers, ...(params ?? [])]} />
      </details>
      <div class="buttons">
        <CopyButton
          text={JSON.stringify({ ...row, headers, params }, null, 2)}
          what="the request"
          label="Copy as JSON"
        />
        {row.canResend && !settings.readOnly && (
          <Button run={() => askToResend([row.id])}>Run the handlers again</Button>
        )}
      </div>
    </>
  );
}

function describeResent({ atMs, by, problem }: Resent) {
  return [<Time atMs={atMs} />, by === undefined ? "" : ` by ${by}`, problem && `: ${problem}`];
}

/** Asks whether the handlers are to run again for the events of requests. */
export function askToResend(ids: readonly string[]): void {
  openDialog(<ResendDialog ids={ids} />);
}

function ResendDialog({ ids }: { ids: readonly string[] }) {
  const [doneCount, setDoneCount] = useState(0);
  const events = plural(ids.length, "event");
  async function submit(): Promise<string> {
    const problems: string[] = [];
    // One after the other: the handlers of 200 events must not run at a time.
    for (const [index, id] of ids.entries()) {
      const { problem } = await send<Resent>("POST", `console/requests/${id}/resend`);
      if (problem !== undefined) problems.push(problem);
      setDoneCount(index + 1);
    }
    selectedRequests.set([]);
    if (problems.length === 0) return `The handlers ran again for ${events}.`;
    const causes = [...new Set(problems)].join(" ");
    throw new ProblemError(0, causes, `${problems.length} of ${events} failed.`);
  }
  return (
    <Dialog title={`Run the handlers again for ${events}?`} action="Run again" submit={submit}>
      <p>
        They run in this process, or in a worker for a dead letter, also if they succeeded before.
      </p>
      {doneCount > 0 && <progress aria-label="Events" max={ids.length} value={doneCount} />}
    </Dialog>
  );
}

/** The link to the requests with a text. */
export function linkToSearch(text: string): string {
  return linkTo("requests", undefined, new URLSearchParams({ q: text }));
}

function QueueState(props: QueuedState & { uuid: string | undefined }) {
  const { state, attempts, atMs, uuid } = props;
  const when = { dead: "failed last", delayed: "runs again" }[state] ?? "since";
  return (
    <>
      <Pill tone={state === "dead" ? "bad" : state === "handled" ? "good" : "warn"}>
        {state === "delayed" ? "failed" : state}
      </Pill>
      {attempts > 0 && ` ${plural(attempts, "attempt")}`}
      {atMs !== undefined && [`, ${when} `, <Time atMs={atMs} />]}{" "}
      {state === "dead" && <a href={linkTo("queue", uuid)}>Show the dead letter</a>}
    </>
  );
}

function Result({ row: { id, explanation, message, canExplain } }: { row: RequestRow }) {
  if (explanation !== undefined) return <Cause explanation={explanation} />;
  if (message === undefined) return null;
  return (
    <>
      <p class="cause">
        <Received text={message} />
      </p>
      {canExplain && (
        <Button run={() => send("GET", `console/requests/${id}/explanation`)}>
          Find the cause
        </Button>
      )}
    </>
  );
}

/** The label of the subject of a cause, by the code of the cause. */
function nameSubject(code: string): string {
  return code.startsWith("URL_")
    ? "Signed URL"
    : code.startsWith("TOKEN_")
      ? "Fingerprint of the token"
      : "Parameter";
}

function Cause({ explanation }: { explanation: Explanation }) {
  const { code, cause, isProven, fix, subject, others } = explanation;
  const isUrl = code.startsWith("URL_") && isProven && subject !== undefined;
  return (
    <>
      <p class="cause">
        {cause} <Pill tone="info">{isProven ? "proven" : "likely"}</Pill>
      </p>
      {isUrl && subject !== readPublicUrl() ? (
        <UrlDifference label="signed" url={subject} />
      ) : (
        <Facts facts={[[nameSubject(code), subject]]} />
      )}
      <p>
        <small>Fix: </small>
        {fix}
      </p>
      {isUrl && <UrlFix signedUrl={subject} />}
      {others.length > 0 && (
        <details>
          <summary>Less likely causes</summary>
          {others.map((other) => (
            <p key={other}>{other}</p>
          ))}
        </details>
      )}
    </>
  );
}

/** A button that sets the webhook with the signed URL to the publicUrl. */
function UrlFix({ signedUrl }: { signedUrl: string }) {
  const { value } = useStore(webhooks);
  const webhook = value?.find(({ webhook_url }) => webhook_url === signedUrl);
  const publicUrl = readPublicUrl();
  if (webhook === undefined || publicUrl === "") return null;
  return (
    <>
      <p>
        The webhook with this URL is <Received text={webhook.friendly_name} />.
      </p>
      {publicUrl !== signedUrl && <Writes actions={[mendUrl(webhook)]} />}
    </>
  );
}
