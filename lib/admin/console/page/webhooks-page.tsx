import { useEffect } from "preact/hooks";
import { ActionButton } from "./action-button";
import { describeProblem } from "./api";
import { openDialog } from "./dialog";
import { EmptyState, Received } from "./received";
import { readPublicUrl, settings } from "./settings";
import { useStore } from "./store";
import { WebhookCard } from "./webhook-card";
import { WebhookForm } from "./webhook-form";
import { webhooks, type ComparedWebhooks } from "./webhooks";

/** The page of the webhooks, with what differs between them and the receiver. */
export function WebhooksPage() {
  const { value, error } = useStore(webhooks.store);
  useEffect(() => void webhooks.reload(), []);
  const isMissing = value?.findings?.some(({ sid }) => sid === undefined) === true;
  return (
    <section aria-labelledby="webhooks-title">
      <div class="page-head">
        <h2 id="webhooks-title" tabIndex={-1}>
          Webhooks
        </h2>
        <div class="buttons">
          <ActionButton label="Refresh" run={() => webhooks.reload()} />
          {!settings.readOnly && (
            <button
              type="button"
              class={isMissing ? "" : "primary"}
              onClick={() => openDialog(<WebhookForm />)}
            >
              Create webhook
            </button>
          )}
        </div>
      </div>
      {error !== undefined ? (
        <div class="panel">
          <EmptyState title="The webhooks could not be read.">
            <p>{describeProblem(error)}</p>
            <ActionButton label="Try again" run={() => webhooks.reload()} />
          </EmptyState>
        </div>
      ) : value === undefined ? (
        <p class="state">Loading.</p>
      ) : (
        <WebhookList {...value} isMissing={isMissing} />
      )}
    </section>
  );
}

function WebhookList({ isMissing, ...shown }: ComparedWebhooks & { isMissing: boolean }) {
  return (
    <>
      {shown.findingsError !== undefined && (
        <p class="notice bad">
          The comparison with the receiver failed. {describeProblem(shown.findingsError)}
        </p>
      )}
      {isMissing && <NotConfigured />}
      {shown.webhooks.map((webhook) => (
        <WebhookCard
          key={webhook.sid}
          webhook={webhook}
          findings={shown.findings?.filter(({ sid }) => sid === webhook.sid) ?? []}
        />
      ))}
      {shown.webhooks.length === 0 && (
        <div class="panel">
          <EmptyState title="The service has no webhook yet.">
            <p>Without one it sends no events.</p>
          </EmptyState>
        </div>
      )}
    </>
  );
}

function NotConfigured() {
  return (
    <div class="finding bad">
      <div class="text">
        <p class="cause">No webhook has the publicUrl of the receiver.</p>
        <p>
          The service sends nothing to{" "}
          <code>
            <Received text={readPublicUrl()} />
          </code>
          .
        </p>
      </div>
      {!settings.readOnly && (
        <button type="button" class="primary" onClick={() => openDialog(<WebhookForm />)}>
          Create a webhook for publicUrl
        </button>
      )}
    </div>
  );
}
