import { useState } from "preact/hooks";
import type { TestEventResult } from "../console-view";
import { Button } from "./action";
import { readPublicUrl, send, settings } from "./api";
import { Notice, toOptions } from "./blocks";
import { Choices, Dialog, openDialog } from "./dialog";
import { formatDuration } from "./format";
import { journal } from "./journal";

/** The button that sends a test event; none where the receiver cannot sign it. */
export function TestEventButton() {
  if (settings.receiver?.canSendTest !== true) return null;
  return <Button label="Send test event" class="primary" run={() => openDialog(<TestEvent />)} />;
}

function describeResponse({ status, durationMs, failure }: TestEventResult): string {
  if (status === undefined) return `No response: ${failure}.`;
  return `The receiver responded ${status} in ${formatDuration(durationMs)}.`;
}

function TestEvent() {
  const [result, setResult] = useState<TestEventResult>();
  async function submit(data: FormData): Promise<string> {
    const body = Object.fromEntries(data);
    const received = await send<TestEventResult>("POST", "console/test-event", body);
    setResult(received);
    await journal.reload();
    return describeResponse(received);
  }
  return (
    <Dialog title="Send a test event" action="Send test event" staysOpen submit={submit}>
      <p>
        The server signs it as the service does. <b>Your handlers run for it</b>; its user and its
        SIDs do not exist.
      </p>
      {settings.receiver?.hasConfirm === true && (
        <p>
          confirm rejects its invented challenge, with a queue before a handler runs: "Rehearse a
          login" proves the rest.
        </p>
      )}
      <Choices
        legend="Event type"
        name="type"
        options={toOptions(settings.eventTypes)}
        chosen={["challenge.approved"]}
      />
      <Choices
        legend="Send to"
        name="via"
        options={{
          direct: "the receiver in this process: tests it and its handlers",
          network: `publicUrl, which also tests DNS, TLS, proxies and the mount: ${readPublicUrl()}`,
        }}
        chosen={["direct"]}
      />
      {result && (
        <Notice tone={result.status === 200 ? "good" : "bad"} title={describeResponse(result)}>
          <code>{result.uuid}</code>
        </Notice>
      )}
    </Dialog>
  );
}
