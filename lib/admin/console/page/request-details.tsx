import type { Explanation, RequestRow } from "../console-view";
import { ActionButton } from "./action-button";
import { send } from "./api";
import { Facts, Received, type Fact } from "./received";
import { readPublicUrl, settings } from "./settings";
import { useStore } from "./store";
import { UrlDifference } from "./url-difference";
import { changeWebhook, webhooks } from "./webhooks";

/** The details of a request: the cause of a failure first, then what is known of the request. */
export function RequestDetails({ row }: { row: RequestRow }) {
  const urls = settings.receiver?.publicUrls ?? [];
  return (
    <>
      <Result row={row} />
      <Facts
        facts={[
          ["Request", row.target],
          ["uuid", row.uuid, true],
          ["Account", row.accountSid, true],
          ["Factor", row.factorSid, true],
          ["Challenge", row.challengeSid, true],
          ["Signed URL", urls.length > 1 ? urls[row.urlIndex ?? -1] : undefined],
          ...row.issues.map((issue): Fact => ["Unreadable", issue]),
          ...row.revealed,
        ]}
      />
    </>
  );
}

function Result({ row }: { row: RequestRow }) {
  if (row.explanation !== undefined) return <Cause explanation={row.explanation} />;
  if (row.result === "conflict") {
    return (
      <>
        <p class="cause">Another request with this uuid had other content.</p>
        <p>This one was dropped and no handler ran. Look for a sender that reuses uuids.</p>
      </>
    );
  }
  if (row.result === "duplicate") {
    return (
      <>
        <p class="cause">This uuid was accepted before.</p>
        <p>The handlers did not run again. The service sends again after an error or a time-out.</p>
      </>
    );
  }
  if (row.message === undefined) return null;
  return (
    <>
      <p class="cause">
        <Received text={row.message} />
      </p>
      {row.canExplain && (
        <ActionButton
          label="Find the cause"
          run={async () => {
            await send("GET", `console/requests/${row.id}/explanation`);
            return "The cause was found.";
          }}
        />
      )}
    </>
  );
}

/** What the subject of a cause is, by the code of the cause. */
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
        {cause} <span class="pill info">{isProven ? "proven" : "likely"}</span>
      </p>
      {isUrl && subject !== readPublicUrl() ? (
        <UrlDifference
          urls={[
            ["signed", subject],
            ["publicUrl", readPublicUrl()],
          ]}
        />
      ) : (
        <Facts facts={[[nameSubject(code), subject]]} />
      )}
      <p>
        <span class="muted">Fix: </span>
        {fix}
      </p>
      {isUrl && <UrlFix signedUrl={subject} />}
      {others.length > 0 && (
        <details>
          <summary>Less likely causes</summary>
          <ul>
            {others.map((other) => (
              <li key={other}>{other}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** A button that sets the webhook with the signed URL to the publicUrl. */
function UrlFix({ signedUrl }: { signedUrl: string }) {
  const { value } = useStore(webhooks.store);
  const webhook = value?.webhooks.find(({ webhook_url }) => webhook_url === signedUrl);
  const publicUrl = readPublicUrl();
  if (webhook === undefined || publicUrl === "") return null;
  return (
    <>
      <p>
        The webhook with this URL is{" "}
        <b>
          <Received text={webhook.friendly_name} />
        </b>
        .
      </p>
      {!settings.readOnly &&
        settings.receiver?.isUrlComplete === true &&
        publicUrl !== signedUrl && (
          <ActionButton
            label="Set webhook_url to publicUrl"
            class="primary"
            run={async () => {
              await changeWebhook(webhook.sid, { webhook_url: publicUrl });
              return "webhook_url was set to publicUrl.";
            }}
          />
        )}
    </>
  );
}
