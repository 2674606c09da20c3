import { maskText } from "../../../lib/core/journal/mask";
import { eventFixture } from "express-push-verification/testing";
import { cutText } from "../../../lib/kit/text";
import { ACCOUNT_SID, SERVICE_SID } from "../../support/webhook-requests";

const LONG = "x".repeat(488);
const SIDS = `${ACCOUNT_SID} ${SERVICE_SID}`;
it.each([
  ["no user jane.doe+1@example.com", "no user <entity_identity>"],
  ["GET /users/jane.doe%2B1%40example.com: 404", "GET /users/<entity_identity>: 404"],
  ["jane.doe+1@example.com/pay", "<entity_identity>/pay"],
  ["no user JANE.DOE+1@EXAMPLE.COM here", "no user <entity_identity> here"],
  [
    "event evt-1 failed, evt-12 and revt-1 did not",
    "event <uuid> failed, evt-12 and revt-1 did not",
  ],
  ["evt-1-phone failed", "<factor_metadata> failed"],
  ['text Pay "Müller" to 12 elms', "text <challenge_details> to <challenge_details>s"],
  ['{"text":"Pay \\"Müller\\""}', '{"text":"<challenge_details>"}'],
  [`challenge.approved of push in ${SIDS} failed`, `challenge.approved of push in ${SIDS} failed`],
  [`${LONG} jane.doe+1@example.com`, `${LONG} <entity_identity>…`],
  [`${LONG} jane.doe%2B1%40example.com`, `${LONG} <entity_identity>…`],
  [`${LONG}xxxxxxxx jane.doe+1@example.com`, `${LONG}xxxxxxxx <entity_identity>…`],
  [`${LONG}xxxxxxxxx jane.doe+1@example.com`, `${LONG}xxxxxxxxx ja…`],
  [`${LONG} a text without a value`, `${LONG} a text with…`],
  [`${"x".repeat(499)}😀`, `${"x".repeat(499)}…`],
])("in the error %j of a handler the values of the event are masked: %j", (error, masked) => {
  const event = eventFixture("challenge.approved", {
    uuid: "evt-1",
    entity_identity: "jane.doe+1@example.com",
    factor_friendly_name: "user jane.doe",
    challenge_hidden_details: "",
    factor_metadata: '{"phone":"evt-1-phone","cut":"\\ud800"}',
    challenge_details:
      '{"message":"Pay \\"Müller\\"","fields":[{"value":"12 Elm"},{"value":"example.com/pay"}]}',
  });
  expect(maskText(error, event)).toBe(masked);
  expect(maskText(error, event, true)).toBe(cutText(error, 500));
});

it.each([
  ["more texts than it compares", JSON.stringify([...Array(301).keys()].map(String))],
  ["JSON of more than 32 levels", "[".repeat(33) + "]".repeat(33)],
])("no error of an event with %s is shown", (_what, challenge_hidden_details) => {
  const event = eventFixture("challenge.approved", { challenge_hidden_details });
  expect(maskText("no user jane", event)).toBe("(not shown)");
});

it.each(["İrem.Aksoy", "ΓΙΩΡΓΟΣ"])("the value %s is masked within a word", (entity_identity) => {
  const event = eventFixture("challenge.approved", { entity_identity });
  const masked = "no user <entity_identity>x, <entity_identity>";
  expect(maskText(`no user ${entity_identity}x, ${entity_identity}`, event)).toBe(masked);
});

it("without an event, only the code of an error is shown", () =>
  expect(maskText("HANDLER_FAILED: no user\njane", undefined)).toBe("HANDLER_FAILED"));
