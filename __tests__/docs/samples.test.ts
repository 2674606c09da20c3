/** docs/samples.md: the body of a webhook request of each type and version, and its event. */
import { PUSH_EVENT_TYPES, pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { readSection } from "../support/docs";

const settings = {
  authToken: "4f1d9a70c2b84e6f9b3350e1d7a6c815",
  publicUrl: "https://app.example.com/webhooks/push",
  signatureHeader: "X-Twilio-Signature",
};
const contentType = "application/x-www-form-urlencoded";
const SAMPLES = PUSH_EVENT_TYPES.flatMap((type) =>
  (["v2", "v1"] as const).map((version) => ({ type, version })),
);

it.each(SAMPLES)("shows the body and the event of $type $version", async ({ type, version }) => {
  const overrides = { uuid: "9b0c1d2e-3f40-4a51-8b62-7c83d94ea5f6" };
  const { headers, body = "" } = signedRequest(settings, type, overrides, { version, contentType });
  const push = pushWebhooks(settings);
  const events: object[] = [];
  push.onAny(({ params: _params, ...event }) => void events.push(event));
  const request = new Request(settings.publicUrl, { method: "POST", headers, body });
  expect((await push.fetch(request)).status).toBe(200);
  const shown = `\`\`\`text
POST /webhooks/push
Content-Type: ${contentType}
X-Twilio-Signature: ${headers["X-Twilio-Signature"]}

${body}
\`\`\`

\`\`\`text
${JSON.stringify(events[0], null, 2)}
\`\`\`
`;
  expect(`${readSection("docs/samples.md", `### ${type} ${version}`).trim()}\n`).toBe(shown);
});
