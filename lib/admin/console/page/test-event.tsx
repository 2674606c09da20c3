import { useState } from "preact/hooks";
import type { TestEventResult } from "../console-view";
import { readPublicUrl, send, settings } from "./api";
import { Notice } from "./blocks";
import { Choices, Dialog } from "./dialog";
import { formatDuration } from "./format";

/** The dialog that sends a test event; it stays open and shows the response. */
export function TestEvent() {
  const [sent, setSent] = useState<{ text: string; isGood: boolean; uuid: string }>();
  async function submit(data: FormData): Promise<string> {
    const choice = Object.fromEntries(data);
    const result = await send<TestEventResult>("POST", "console/test-event", choice);
    const { status, durationMs, failure, uuid } = result;
    const text =
      status === undefined
        ? `No response: ${failure}.`
        : `The receiver responded ${status} in ${formatDuration(durationMs)}.`;
    setSent({ text, isGood: status === 200, uuid });
    return text;
  }
  return (
    <Dialog title="Send a test event" action="Send test event" staysOpen submit={submit}>
      <p>
        The server signs it as the service does. <b>Your handlers run for it</b>; its user and its
        SIDs do not exist.
      </p>
      <Choices
        legend="Event type"
        name="type"
        options={settings.eventTypes.map((type) => [type, type])}
        chosen={["challenge.approved"]}
      />
      <Choices
        legend="Version"
        name="version"
        options={[
          ["v2", "v2"],
          ["v1", "v1, legacy"],
        ]}
        chosen={["v2"]}
      />
      <Choices
        legend="Send to"
        name="via"
        options={[
          ["direct", "the receiver in this process: tests it and its handlers"],
          [
            "network",
            `publicUrl, which also tests DNS, TLS, proxies and the mount: ${readPublicUrl()}`,
          ],
        ]}
        chosen={["direct"]}
      />
      {sent !== undefined && (
        <Notice tone={sent.isGood ? "good" : "bad"} title={sent.text}>
          <code>{sent.uuid}</code>
        </Notice>
      )}
    </Dialog>
  );
}
