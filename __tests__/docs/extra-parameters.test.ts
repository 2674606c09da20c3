/** What becomes of parameters that the specification does not have, as the table of docs/signed-text.md says. */
import { createReceiver } from "../support/receivers";
import { readText } from "../support/docs";
import { eventRequest } from "../support/webhook-requests";

const receive = (extraParameters: string[], params: Record<string, string>) => {
  const { receive: send, rejected } = createReceiver({ extraParameters, methods: ["POST"] });
  return send(eventRequest("factor.created", params)).then((status) => [status, ...rejected]);
};
const REJECTED = [400, "PAYLOAD_AMBIGUOUS"];

it.each<[example: string, declared: string[], rejected: object, accepted: object | undefined]>([
  ["`event_id`", [], { event_id: "7" }, undefined],
  ["`version`", [], { version: "2" }, undefined],
  ["`user_uuid`", [], { user_uuid: "5c9d2f8e-1a7b-4c3d-9e0f-8b6a2d4c1e5f" }, { user_uuid: "7" }],
  ["`event`", ["event"], { event: "7", entity_identity: "an event" }, { event: "7" }],
  [
    "`status`",
    ["status", "user_type"],
    { status: "ok", user_type: "app.admin" },
    { status: "ok", user_type: "admin" },
  ],
])("%s", async (example, declared, rejected, accepted) => {
  expect(readText("docs/signed-text.md")).toContain(`| ${example} `);
  expect(await receive(declared, { ...rejected })).toEqual(REJECTED);
  if (accepted !== undefined) expect(await receive(declared, { ...accepted })).toEqual([200]);
});

it("`tz`, `webhook_uuid`", () => {
  expect(() => receive(["tz", "webhook_uuid"], {})).toThrow(TypeError);
});
