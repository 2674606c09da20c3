/** The table of docs/migration.md: statuses of the SDK's middleware and of this package. */
import express from "express";
import twilio from "twilio";
import { pushWebhooks } from "express-push-verification";
import { readText } from "./support/docs";
import { send, startServer, stopServers } from "./support/servers";
import { AUTH_TOKEN, eventRequest } from "./support/webhook-requests";

afterEach(stopServers);

const FORM = "application/x-www-form-urlencoded";
const SIGNATURE = "x-twilio-signature";

/** How a request differs from a good one. */
interface Change {
  params?: Record<string, undefined>;
  headers?: Record<string, string>;
  isUnsigned?: boolean;
  /** The origin of the URL that the service signs; by default that of the app. */
  origin?: string;
  count?: number;
}

const CHANGES: Record<string, Change> = {
  "as the service sends it, as application/x-www-form-urlencoded": {},
  "without a signature header": { isUnsigned: true },
  "with a wrong signature": { headers: { [SIGNATURE]: `${"A".repeat(27)}=` } },
  "as application/x-www-urlencoded": {
    headers: { "content-type": "application/x-www-urlencoded" },
  },
  "signed, but challenge_sid is missing": { params: { challenge_sid: undefined } },
  "a duplicate": { count: 2 },
  "to another host name that reaches the app": { origin: "http://app.example.com" },
};

const [, table = ""] = readText("docs/migration.md").split("<!-- statuses -->\n\n");
const ROWS = table
  .slice(0, table.indexOf("\n\n"))
  .split("\n")
  .slice(2)
  .map((line) => line.replaceAll("`", "").split("|"))
  .map((cells) => cells.slice(1, -1).map((cell) => cell.trim()));

it("has each request in the table", () => {
  expect(ROWS.map(([what]) => what)).toEqual(Object.keys(CHANGES));
});

it.each(ROWS)("%s: webhook() %s, validateExpressRequest() %s, this package %s", async (...row) => {
  const [what = "", byWebhook = "", byValidate = "", byReceiver = ""] = row;
  const { params, headers, isUnsigned = false, origin, count = 1 } = CHANGES[what] ?? {};
  const app = express();
  const port = await startServer(app);
  const publicUrl = (path: string) => (origin ?? `http://127.0.0.1:${port}`) + path;
  const push = pushWebhooks({
    authToken: AUTH_TOKEN,
    publicUrl: publicUrl("/push"),
    signatureHeader: SIGNATURE,
  });
  const runs = { webhook: 0, receiver: 0 };
  const codes: string[] = [];
  push.onAny(() => void runs.receiver++);
  push.onRejected(({ code }) => void codes.push(code));
  app.use("/push", push);
  app.use(express.urlencoded({ extended: false }));
  app.post("/webhook", twilio.webhook(AUTH_TOKEN), (_req, res) => {
    runs.webhook++;
    res.sendStatus(200);
  });
  app.post(
    "/validate",
    (req, res) => void res.json(twilio.validateExpressRequest(req, AUTH_TOKEN)),
  );

  async function respond(path: string): Promise<Response> {
    const {
      method,
      body,
      headers: made,
    } = eventRequest("challenge.approved", params, {
      publicUrl: publicUrl(path),
      contentType: FORM,
    });
    const { "x-service-signature": signature = "", ...others } = made;
    const signed = { ...others, ...(!isUnsigned && { [SIGNATURE]: signature }), ...headers };
    const responses = [];
    for (let sent = 0; sent < count; sent++) {
      responses.push(await send(port, { method, path, headers: signed, body }));
    }
    return responses.at(-1) as Response;
  }

  expect(byWebhook).toMatch(new RegExp(`^${(await respond("/webhook")).status}\\b`));
  expect(await (await respond("/validate")).text()).toBe(byValidate);
  expect(byReceiver).toMatch(new RegExp(`^${(await respond("/push")).status}\\b`));
  expect(runs).toEqual({
    webhook: byWebhook.startsWith("200") ? count : 0,
    receiver: byReceiver.startsWith("200") ? 1 : 0,
  });
  for (const code of codes) expect(byReceiver).toContain(code);
});
