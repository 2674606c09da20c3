import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Explanation, QueuedState, RequestDetails, RequestRow } from "../console-view";
import { Button, WriteButton } from "./action";
import { readPublicUrl, send, settings } from "./api";
import { LoadedValue, Pill, Time } from "./blocks";
import { changes } from "./changes";
import { openDialog } from "./dialog";
import { formatDuration, formatTime, plural } from "./format";
import { Fact, Facts, Received, UrlDifference } from "./received";
import { canRun, ResendDialog } from "./resend";
import { linkTo, linkToRequests, place } from "./route";
import { createLoader } from "./store";
import { UrlButton, webhooks } from "./webhooks";

const REFRESH_MS = 5_000;

/** The details of a request, or why they are not shown. */
export function LoadedRequest(props: {
  id: string;
  what: string;
  children: (details: RequestDetails) => ComponentChildren;
}) {
  const path = `console/requests/${encodeURIComponent(props.id)}`;
  const loader = useMemo(() => createLoader(() => send<RequestDetails>("GET", path)), [path]);
  // The queue may run its handlers at any time, in any process.
  return <LoadedValue loader={loader} refreshMs={settings.hasQueue ? REFRESH_MS : 0} {...props} />;
}

/** All that is known of a request: the cause of a failure first. */
export function OpenRequest({ row }: { row: RequestRow }) {
  const { id, pseudonym } = row;
  const claims = Object.values(row.claimed ?? {}).filter(Boolean);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.value.isLinked) return;
    document.getElementById(`request-${id}`)?.focus({ preventScroll: true });
    ref.current?.scrollIntoView({ block: "center" });
  }, [id]);
  return (
    <div class="box" ref={ref}>
      <Result row={row} />
      <Facts
        of={{
          Request: row.target,
          Handlers: row.failure,
          uuid: row.uuid,
          Account: row.accountSid,
          Factor: row.factorSid,
          Challenge: row.challengeSid,
          User: pseudonym && <a href={linkToRequests(pseudonym)}>{pseudonym}</a>,
          "Signed URL": settings.receiver?.publicUrls[row.urlIndex ?? -1],
          "Claims, not verified": claims.length > 0 && claims.join(" "),
          Unreadable: row.issues.length > 0 && row.issues.join("; "),
        }}
      />
      <LoadedRequest id={id} what="details of the request">
        {(details) => <Details row={row} details={details} />}
      </LoadedRequest>
    </div>
  );
}

function Details({ row, details }: { row: RequestRow; details: RequestDetails }) {
  const { params, headers, responseHeaders, queued } = details;
  return (
    <>
      <TimeLine row={row} queued={queued} />
      <details>
        <summary>Headers and parameters</summary>
        <Facts class="mono">
          {responseHeaders.map((header) => (
            <Fact name="Response header">{header.join(": ")}</Fact>
          ))}
          {[...headers, ...(params ?? [])].map(([name, value]) => (
            <Fact name={name}>{value}</Fact>
          ))}
        </Facts>
      </details>
      {canRun(row) && (
        <WriteButton
          label="Run the handlers again"
          run={() => openDialog(<ResendDialog rows={[row]} />)}
        />
      )}
    </>
  );
}

/** What happened to an event, in the order of time; its state in the queue comes last. */
function TimeLine({ row, queued }: { row: RequestRow; queued: QueuedState | undefined }) {
  const { atMs, status, code = "", durationMs, resent } = row;
  const after = `after ${formatDuration(durationMs)}`;
  const events = [
    toEvent("Received", atMs),
    toEvent("Response", atMs + durationMs, `${status} ${code}`.trim(), after),
    ...(queued?.failures ?? []).map((failed) => {
      const { process, durationMs: ranMs = 0 } = failed;
      const run = process && `after ${formatDuration(ranMs)} in process ${process}`;
      return toEvent("Failed", failed.atMs, failed.error, run);
    }),
  ];
  if (resent) events.push(toEvent("Ran again", resent.atMs, resent.by, resent.problem));
  return (
    <Facts>
      {events.toSorted((a, b) => a.atMs - b.atMs).map(({ fact }) => fact)}
      <Fact name="Queue">{queued && <QueueState {...queued} uuid={row.uuid} />}</Fact>
    </Facts>
  );
}

function toEvent(name: string, atMs: number, ...texts: readonly (string | undefined)[]) {
  const fact = (
    <Fact name={name}>
      <Time atMs={atMs} text={formatTime(atMs, true)} />
      {texts.map((text) => text !== undefined && [", ", <Received text={text} />])}
    </Fact>
  );
  return { atMs, fact };
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

function Result({ row: { id, explanation, message, canExplain } }: { row: RequestRow }) {
  if (explanation !== undefined) return <Cause explanation={explanation} />;
  if (message === undefined) return null;
  return (
    <>
      <p class="cause">
        <Received text={message} />
      </p>
      {canExplain && (
        <Button
          label="Find the cause"
          run={async () => {
            await send("GET", `console/requests/${id}/explanation`);
            await changes.reload();
          }}
        />
      )}
    </>
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
