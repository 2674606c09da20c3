import { useState } from "preact/hooks";
import type { TestEventResult } from "../console-view";
import { send } from "./api";
import { Notice } from "./blocks";
import { Choices, Dialog } from "./dialog";
import { formatDuration } from "./format";
import { readPublicUrl, settings } from "./settings";

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
    <Dialog
      title="Send a test event"
      action="Send test event"
      cancel="Close"
      staysOpen
      submit={submit}
    >
      <p>
        The server signs it as the service does. <b>Your handlers run for it</b>; its user
        console-test-event and its SIDs do not exist.
      </p>
      <label class="field">
        Event type
        <select name="type">
          {settings.eventTypes.map((type) => (
            <option key={type} selected={type === "challenge.approved"}>
              {type}
            </option>
          ))}
        </select>
      </label>
      <Choices
        legend="Version"
        name="version"
        options={[
          ["v2", "v2"],
          ["v1", "v1, legacy"],
        ]}
      />
      <Choices
        legend="Send to"
        name="via"
        options={[
          ["direct", "The receiver in this process", "Tests the receiver and its handlers."],
          [
            "network",
            "publicUrl, over the network",
            `Also tests DNS, TLS, proxies and the mount: ${readPublicUrl()}`,
          ],
        ]}
      />
      {sent !== undefined && (
        <Notice tone={sent.isGood ? "good" : "bad"} title={sent.text}>
          <code>{sent.uuid}</code>
        </Notice>
      )}
    </Dialog>
  );
}
