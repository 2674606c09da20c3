import { useEffect, useRef, useState } from "preact/hooks";
import type { Explanation, QueuedState, RequestDetails, RequestRow } from "../console-view";
import { Button } from "./action";
import { read, readPublicUrl, settings } from "./api";
import { LoadedValue, Pill, Time } from "./blocks";
import { formatDuration, formatTime, plural } from "./format";
import { Fact, Facts, Received, RequestsLink, UrlDifference } from "./received";
import { ResendButton } from "./resend";
import { linkTo, place, replacePlace } from "./route";
import { createLoader, type Loader } from "./store";
import { UrlButton, webhooks } from "./webhooks";

const REFRESH_MS = 5_000;

/** The block that uses it has the id as its key. */
function useDetails(id: string): Loader<RequestDetails> {
  const path = `console/requests/${encodeURIComponent(id)}`;
  const [loader] = useState(() => createLoader(() => read<RequestDetails>(path)));
  return loader;
}

/** The request of a link that is not in the list. */
export function LinkedRequest({ id }: { id: string }) {
  const loader = useDetails(id);
  return (
    <div class="panel">
      <div class="panel-head">
        <h3>
          The request of the link{" "}
          <small>{loader.value && formatTime(loader.value.row.atMs, true)}</small>
        </h3>
        <div class="buttons">
          <Button label="Close" run={() => replacePlace({ id: undefined })} />
        </div>
      </div>
      <div class="box">
        <LoadedValue loader={loader} refreshMs={REFRESH_MS} what="request of the link">
          {(details) => [<RequestFacts row={details.row} />, <TimeLine {...details} />]}
        </LoadedValue>
      </div>
    </div>
  );
}

/** All that is known of a request of the list. */
export function OpenRequest({ row }: { row: RequestRow }) {
  const { id } = row;
  const loader = useDetails(id);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.value.isLinked) return;
    document.getElementById(`request-${id}`)?.focus({ preventScroll: true });
    ref.current?.scrollIntoView({ block: "center" });
  }, [id]);
  return (
    <div class="box" ref={ref}>
      <RequestFacts row={row} />
      <LoadedValue loader={loader} refreshMs={REFRESH_MS} what="details of the request">
        {(details) => <TimeLine {...details} row={row} />}
      </LoadedValue>
    </div>
  );
}

/** The cause of a failure comes first. */
function RequestFacts({ row }: { row: RequestRow }) {
  const { person, isAuthenticated, sender } = row;
  return (
    <>
      <Result row={row} />
      {!isAuthenticated && <p class="muted">Its sender may have invented the names below.</p>}
      <Facts
        of={{
          Request: row.target,
          Handlers: row.failure,
          uuid: row.uuid,
          Account: row.accountSid,
          Factor: row.factorSid,
          Challenge: row.challengeSid,
          User: person && <RequestsLink q={person} />,
          "Signed URL": settings.receiver?.publicUrls[row.urlIndex ?? -1],
          Unreadable: row.issues.length > 0 && row.issues.join("; "),
          Sender: [sender.address, sender.forwardedFor, sender.userAgent]
            .filter(Boolean)
            .join(", "),
          Receiver: row.receiver,
          Process: row.process + (row.build === undefined ? "" : `, build ${row.build}`),
        }}
      />
    </>
  );
}

/** What happened to an event, in the order of time; its state in the queue comes last. */
function TimeLine({ row, steps, queued }: RequestDetails) {
  const { atMs, status, code = "", durationMs } = row;
  return (
    <>
      <Facts>
        {toEvent("received", atMs)}
        {toEvent(
          "response",
          atMs + durationMs,
          `${status} ${code}`.trim(),
          `after ${formatDuration(durationMs)}`,
        )}
        {steps.map(({ what, attempt, durationMs: ranMs, process, error, by, ...step }) =>
          toEvent(
            what,
            step.atMs,
            by && `by ${by}`,
            attempt === undefined ? undefined : `attempt ${attempt}`,
            ranMs === undefined
              ? undefined
              : `after ${formatDuration(ranMs)} in process ${process}`,
            error,
          ),
        )}
        <Fact name="queue">{queued && <QueueState {...queued} uuid={row.uuid} />}</Fact>
      </Facts>
      {row.canResend && (
        <ResendButton label="Run the handlers again" count={1} choice={{ ids: [row.id] }} />
      )}
    </>
  );
}

function toEvent(name: string, atMs: number, ...texts: readonly (string | undefined)[]) {
  return (
    <Fact name={name}>
      <Time atMs={atMs} text={formatTime(atMs, true)} />
      {texts.map((text) => Boolean(text) && [", ", <Received text={text} />])}
    </Fact>
  );
}

function QueueState(props: QueuedState & { uuid: string | undefined }) {
  const { state, attempts, atMs, uuid } = props;
  const when = { dead: "failed last", delayed: "runs again" }[state] ?? "since";
  return (
    <>
      <Pill
        tone={["dead", "discarded"].includes(state) ? "bad" : state === "handled" ? "good" : "warn"}
      >
        {state === "delayed" ? "failed" : state}
      </Pill>
      {attempts > 0 && ` ${plural(attempts, "attempt")}`}
      {atMs !== undefined && [`, ${when} `, <Time atMs={atMs} />]}{" "}
      {state === "dead" && <a href={linkTo("queue", uuid)}>Show the dead letter</a>}
    </>
  );
}

function Result({ row: { explanation, message } }: { row: RequestRow }) {
  if (explanation !== undefined) return <Cause explanation={explanation} />;
  if (message === undefined) return null;
  return (
    <p class="cause">
      <Received text={message} />
    </p>
  );
}

const SUBJECTS: Record<string, string> = { URL: "Signed URL", TOKEN: "Fingerprint of the token" };

function Cause({ explanation }: { explanation: Explanation }) {
  const { code, cause, isProven, fix, subject, others } = explanation;
  const webhook = webhooks.value?.find(({ webhook_url }) => webhook_url === subject);
  const isUrl = code.startsWith("URL_") && isProven && subject !== undefined;
  return (
    <>
      <p class="cause">
        {cause} <Pill tone="info">{isProven ? "proven" : "likely"}</Pill>
      </p>
      {isUrl && subject !== readPublicUrl() ? (
        <UrlDifference label="signed" url={subject} />
      ) : (
        <Facts of={{ [SUBJECTS[code.split("_", 1)[0] ?? ""] ?? "Parameter"]: subject }} />
      )}
      <p>
        <small>Fix: </small>
        {fix}
      </p>
      {isUrl && webhook !== undefined && (
        <p>
          The webhook with this URL is <Received text={webhook.friendly_name} />.{" "}
          {subject !== readPublicUrl() && <UrlButton webhook={webhook} />}
        </p>
      )}
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
