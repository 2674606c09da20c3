import { useEffect } from "preact/hooks";
import { Button } from "./action";
import { describeProblem } from "./api";
import { EmptyState, LoadedBlock, Notice, Section } from "./blocks";
import { openDialog } from "./dialog";
import { Received } from "./received";
import { settings } from "./settings";
import { useStore } from "./store";
import { WebhookCard } from "./webhook-card";
import { WebhookForm } from "./webhook-form";
import { webhooks, type ComparedWebhooks } from "./webhooks";

/** The page of the webhooks, with what differs between them and the receiver. */
export function WebhooksPage() {
  useEffect(() => void webhooks.reload(), []);
  const { value } = useStore(webhooks);
  const isMissing = value?.findings?.some(({ sid }) => sid === undefined) === true;
  return (
    <Section
      title="Webhooks"
      loader={webhooks}
      buttons={<CreateButton label="Create webhook" isPrimary={!isMissing} />}
    >
      <LoadedBlock loader={webhooks} failed={() => "The webhooks could not be read."}>
        {(compared) => <WebhookList {...compared} />}
      </LoadedBlock>
    </Section>
  );
}

function WebhookList({ webhooks: all, findings = [], findingsError }: ComparedWebhooks) {
  return (
    <>
      {findingsError !== undefined && (
        <Notice tone="bad" title="The comparison with the receiver failed.">
          {describeProblem(findingsError)}
        </Notice>
      )}
      {findings
        .filter(({ sid }) => sid === undefined)
        .map(({ message, fix }) => (
          <Notice
            key={message}
            tone="bad"
            title={<Received text={message} />}
            button={<CreateButton label="Create a webhook for publicUrl" isPrimary />}
          >
            {fix}
          </Notice>
        ))}
      {all.map((webhook) => (
        <WebhookCard
          key={webhook.sid}
          webhook={webhook}
          findings={findings.filter(({ sid }) => sid === webhook.sid)}
        />
      ))}
      {all.length === 0 && (
        <EmptyState title="The service has no webhook yet.">
          <p>Without one it sends no events.</p>
        </EmptyState>
      )}
    </>
  );
}

function CreateButton({ label, isPrimary }: { label: string; isPrimary: boolean }) {
  if (settings.readOnly) return null;
  return (
    <Button class={isPrimary ? "primary" : ""} run={() => openDialog(<WebhookForm />)}>
      {label}
    </Button>
  );
}
