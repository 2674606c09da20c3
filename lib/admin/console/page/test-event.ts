import type { TestEventResult } from "../console-view";
import { send } from "./api";
import type { Context } from "./context";
import { openDialog } from "./dialog";
import { h, received } from "./dom";
import { choices, field } from "./form-fields";
import { formatDuration } from "./format";

/** Opens the dialog that sends a test event; it stays open and shows the response. */
export function openTestEventDialog({ settings }: Context): void {
  const type = h(
    "select",
    { name: "type" },
    settings.eventTypes.map((name) =>
      h("option", { value: name, selected: name === "challenge.approved" }, name),
    ),
  );
  const result = h("div", { class: "test-result" });
  const [publicUrl = ""] = settings.receiver?.publicUrls ?? [];
  openDialog({
    title: "Send a test event",
    content: [
      h(
        "p",
        {},
        "The server signs it as the service does. ",
        h("b", {}, "Your handlers run for it"),
        "; its user console-test-event and its SIDs do not exist.",
      ),
      field("Event type", type),
      choices("Version", "version", [
        ["v2", "v2"],
        ["v1", "v1, legacy"],
      ]),
      choices("Send to", "via", [
        ["direct", "The receiver in this process", "Tests the receiver and its handlers."],
        [
          "network",
          "publicUrl, over the network",
          `Also tests DNS, TLS, proxies and the mount: ${publicUrl}`,
        ],
      ]),
      result,
    ],
    action: "Send test event",
    cancel: "Close",
    staysOpen: true,
    async submit(form) {
      const data = Object.fromEntries(new FormData(form));
      const sent = await send<TestEventResult>("POST", "console/test-event", data);
      const text =
        sent.status === undefined
          ? `No response: ${sent.failure ?? "unknown"}.`
          : `The receiver responded ${sent.status} in ${formatDuration(sent.durationMs)}.`;
      const tone = sent.status === 200 ? "good" : "bad";
      result.replaceChildren(
        h("p", { class: `notice ${tone}` }, h("span", {}, text, " ", received(sent.uuid, "mono"))),
      );
      return text;
    },
  });
}
