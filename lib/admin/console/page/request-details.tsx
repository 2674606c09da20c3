import { useEffect, useRef } from "preact/hooks";
import type { RequestRow } from "../request-row";
import type { RequestDetails } from "../shown-history";
import { readPublicUrl, settings } from "./api";
import { Pill, Time } from "./blocks";
import { formatDuration, formatTime, plural } from "./format";
import { Fact, Received, RequestsLink, UrlDifference } from "./received";
import { ResendButton } from "./resend";
import { linkTo, place } from "./route";
import { readNearestUrl, webhooks } from "./webhooks";
import { MendButton } from "./webhooks-page";

interface OpenProps {
  row: RequestRow;
  details: RequestDetails | null | undefined;
}

/** All that is known of a request. */
export function OpenRequest({ row, details }: OpenProps) {
  const { id } = row;
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.value.isLinked) return;
    document.getElementById(`request-${id}`)?.focus({ preventScroll: true });
    ref.current?.scrollIntoView({ block: "center" });
  }, []);
  return (
    <div class="box" ref={ref}>
      <RequestFacts {...row} />
      {details ? <TimeLine {...details} /> : <p class="state">Loading.</p>}
    </div>
  );
}

/** The cause of a failure comes first. */
function RequestFacts(row: RequestRow) {
  const { explanation, message, person, build } = row;
  const { address, forwardedFor, userAgent } = row.sender;
  return (
    <>
      {explanation && <Cause {...explanation} />}
      {!explanation && message && (
        <p class="cause">
          <Received text={message} />
        </p>
      )}
      {!row.isAuthenticated && <p class="muted">Its sender may have invented the names below.</p>}
      <dl class="facts">
        <Fact name="Request">{row.target}</Fact>
        <Fact name="Handlers">{row.failure}</Fact>
        <Fact name="uuid">{row.uuid}</Fact>
        <Fact name="Account">{row.accountSid}</Fact>
        <Fact name="Factor">{row.factorSid}</Fact>
        <Fact name="Challenge">{row.challengeSid}</Fact>
        <Fact name="User">{person && <RequestsLink q={person} />}</Fact>
        <Fact name="Signed URL">{settings.receiver?.publicUrls[row.urlIndex ?? -1]}</Fact>
        <Fact name="Unreadable">{row.issues.length > 0 && row.issues.join("; ")}</Fact>
        <Fact name="Sender">{[address, forwardedFor, userAgent].filter(Boolean).join(", ")}</Fact>
        <Fact name="Receiver">{row.receiver}</Fact>
        <Fact name="Process">{row.process + (build === undefined ? "" : `, build ${build}`)}</Fact>
      </dl>
    </>
  );
}

/** What happened to an event, in the order of time; its state in the queue comes last. */
function TimeLine({ row, steps, queued }: RequestDetails) {
  const { atMs, status, code = "", durationMs } = row;
  const response = [`${status} ${code}`.trim(), `after ${formatDuration(durationMs)}`];
  return (
    <>
      <dl class="facts">
        <Moment name="received" atMs={atMs} />
        <Moment name="response" atMs={atMs + durationMs} texts={response} />
        {steps.map(({ what, attempt, durationMs: ranMs, process, error, by, ...step }) => {
          const ran = ranMs !== undefined && `after ${formatDuration(ranMs)} in process ${process}`;
          const texts = [
            by && `by ${by}`,
            attempt !== undefined && `attempt ${attempt}`,
            ran,
            error,
          ];
          return <Moment name={what} atMs={step.atMs} texts={texts} />;
        })}
        <Fact name="queue">{queued && <QueueState {...queued} uuid={row.uuid} />}</Fact>
      </dl>
      {row.canResend && (
        <ResendButton label="Run the handlers again" count={1} choice={{ id: row.id }} />
      )}
    </>
  );
}

interface MomentProps {
  name: string;
  atMs: number;
  texts?: readonly (string | false | undefined)[];
}

const Moment = ({ name, atMs, texts = [] }: MomentProps) => (
  <Fact name={name}>
    <Time atMs={atMs} text={formatTime(atMs)} />
    {texts.map((text) => text && [", ", <Received text={text} />])}
  </Fact>
);

function QueueState(props: NonNullable<RequestDetails["queued"]> & { uuid: string | undefined }) {
  const { state, attempts, atMs, uuid } = props;
  const when = { dead: "failed last", delayed: "runs again" }[state] ?? "since";
  return (
    <>
      <b>{state === "delayed" ? "failed" : state}</b>
      {attempts > 0 && `, ${plural(attempts, "attempt")}`}
      {atMs !== undefined && [`, ${when} `, <Time atMs={atMs} />]}{" "}
      {state === "dead" && <a href={linkTo("queue", uuid)}>Show the dead letter</a>}
    </>
  );
}

const SUBJECTS: Record<string, string> = { URL: "Signed URL", TOKEN: "Fingerprint of the token" };

function Cause({
  code,
  cause,
  isProven,
  fix,
  subject = "",
  others,
}: NonNullable<RequestRow["explanation"]>) {
  const isUrl = code.startsWith("URL_") && isProven;
  const differs = isUrl && subject !== readPublicUrl();
  const [kind = ""] = code.split("_", 1);
  const { webhooks: all = [], findings = [] } = webhooks.value ?? {};
  const webhook = isUrl ? all.find(({ webhook_url }) => webhook_url === subject) : undefined;
  const finding = findings.find(
    ({ sid, code: of }) => sid === webhook?.sid && of === "URL_DIFFERS",
  );
  return (
    <>
      <p class="cause">
        {cause} <Pill tone="info">{isProven ? "proven" : "likely"}</Pill>
      </p>
      {differs ? (
        <UrlDifference label="signed" url={subject} to={readNearestUrl(finding)} />
      ) : (
        <dl class="facts">
          <Fact name={SUBJECTS[kind] ?? "Parameter"}>{subject !== "" && subject}</Fact>
        </dl>
      )}
      <p>
        <small>Fix: </small>
        {fix}
      </p>
      {webhook && (
        <p>
          The webhook with this URL is{" "}
          <a href={linkTo("webhooks", webhook.sid)}>
            <Received text={webhook.friendly_name} />
          </a>
          . {finding && <MendButton webhook={webhook} finding={finding} />}
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
