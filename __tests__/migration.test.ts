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

/** How a request differs from a good one; `origin` is that of the URL that the service signs. */
interface Change {
  params?: Record<string, undefined>;
  headers?: Record<string, string>;
  isUnsigned?: boolean;
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
  const settings = { authToken: AUTH_TOKEN, signatureHeader: SIGNATURE };
  const push = pushWebhooks({ ...settings, publicUrl: publicUrl("/push") });
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
  app.post("/validate", (req, res) => {
    res.json(twilio.validateExpressRequest(req, AUTH_TOKEN));
  });

  async function respond(path: string): Promise<Response> {
    const options = { publicUrl: publicUrl(path), contentType: FORM };
    const { headers: made, ...request } = eventRequest("challenge.approved", params, options);
    const { "x-service-signature": signature = "", ...others } = made;
    const signed = { ...others, ...(!isUnsigned && { [SIGNATURE]: signature }), ...headers };
    const sendOnce = () => send(port, { ...request, path, headers: signed });
    for (let sent = 1; sent < count; sent++) await sendOnce();
    return sendOnce();
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
