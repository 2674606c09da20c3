/** What `trigger` says about the response of an app that has made a mistake: the cause, then the fix. */
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { silent } from "../support/receivers";
import { startServer, stopServers } from "../support/servers";
import { runCommand } from "../support/terminals";
import { AUTH_TOKEN } from "../support/webhook-requests";

afterEach(stopServers);

const consume: RequestHandler = (req, _res, next) => void req.resume().on("end", next);
const limit: RequestHandler = (_req, res) => void res.sendStatus(429);
const parse = express.json({ type: () => true, strict: false });
const fail: ErrorRequestHandler = (_error, _req, res, _next) => void res.sendStatus(400);
const by = (options: Partial<PushWebhooksOptions>) => ({ options });
const confirmTypes = ["factor.created"] as const;
const denied = { confirm: () => false, confirmTypes };

interface App {
  options?: Partial<PushWebhooksOptions>;
  before?: RequestHandler;
  type?: string;
}
it.each<[reason: RegExp, args?: string, app?: App]>([
  [/publicUrl, authToken and signatureHeader.*--url, PUSH_/s, "", by({ authToken: "x" })],
  [/signatureHeader.*--signature-header/s, "", by({ signatureHeader: "X-Own" })],
  [/does not accept GET.*option methods/s, "--method GET"],
  [/form in UTF-8.*application\/x-www-form/s, "--content-type application/json"],
  [/second reading.*log of the app/s, "--set event_id=1"],
  [/signature is right.*dAccountSids/s, "", by({ allowedAccountSids: [`AC${"0".repeat(32)}`] })],
  [/signature is right.*confirm says no/s, "", by(denied)],
  [/a handler failed.*log of the app/s, "--set entity_identity=fail"],
  [/another middleware has read the body.*log of the app/s, "", { before: consume }],
  [/with confirm.*rehearse/s, "", { type: "challenge.denied" }],
  [/rate limiter.*Mount the receiver before/s, "", { before: limit }],
  [/its error handler.*Mount the receiver before/s, "", { before: parse }],
])("%s %s", async (reason, args = "", { options, before, type = "factor.created" } = {}) => {
  const app = express();
  const url = `http://127.0.0.1:${await startServer(app)}/push`;
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: url, logger: silent, ...options });
  push.on("factor.created", ({ entity_identity }) => {
    if (entity_identity === "fail") throw new Error("no database");
  });
  if (before !== undefined) app.use(before);
  app.use("/push", push).use(fail);
  const line = ["trigger", type, "--url", url, ...args.split(" ").filter(Boolean)];
  const { stderr } = await runCommand(line, { PUSH_AUTH_TOKEN: AUTH_TOKEN });
  expect(stderr).toMatch(reason);
  expect(stderr).not.toContain(AUTH_TOKEN);
});
