/** A login that waits until the phone of the user has approved it. */
import { randomUUID } from "node:crypto";
import express from "express";
import { pushWebhooks, WebhookError } from "express-push-verification";
import { confirmWith, createAdminClient } from "express-push-verification/admin";

// Your code: checks the password, and finds what your handler of factor.verified has stored.
declare function checkPassword(body: unknown): Promise<string>;
declare function findFactorSid(entityIdentity: string): Promise<string>;

/** Asks the phone of a user; returns the SID of the challenge. */
async function createChallenge(entityIdentity: string): Promise<string> {
  const { PUSH_VERIFY_URL, PUSH_SERVICE_SID, PUSH_ACCOUNT_SID, PUSH_AUTH_TOKEN } = process.env;
  const entity = `Services/${PUSH_SERVICE_SID}/Entities/${encodeURIComponent(entityIdentity)}`;
  const credentials = Buffer.from(`${PUSH_ACCOUNT_SID}:${PUSH_AUTH_TOKEN}`).toString("base64");
  const FactorSid = await findFactorSid(entityIdentity);
  const response = await fetch(`${PUSH_VERIFY_URL}/v2/${entity}/Challenges`, {
    method: "POST",
    headers: { authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ FactorSid, "Details.Message": "Log in to the shop?" }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`The service responded ${response.status}.`);
  return ((await response.json()) as { sid: string }).sid;
}

const client = createAdminClient({
  verifyUrl: process.env.PUSH_VERIFY_URL,
  accountSid: process.env.PUSH_ACCOUNT_SID,
  serviceSid: process.env.PUSH_SERVICE_SID,
  password: process.env.PUSH_AUTH_TOKEN, // or a Standard key: its SID as username, its secret here
});
const push = pushWebhooks({
  authToken: process.env.PUSH_AUTH_TOKEN,
  publicUrl: process.env.PUSH_PUBLIC_URL,
  confirm: confirmWith(client), // asks the service whether the challenge was approved
});
const attempts = new Map<string, { entityIdentity: string; challengeSid: string }>();

const app = express();
app.use("/webhooks/push", push);
app.post("/login", express.json(), async (req, res) => {
  const entityIdentity = await checkPassword(req.body);
  const challengeSid = await createChallenge(entityIdentity);
  const id = randomUUID(); // known to this browser only
  attempts.set(id, { entityIdentity, challengeSid });
  setTimeout(() => attempts.delete(id), 300_000).unref();
  res.status(201).json({ attempt: id });
});
app.post("/login/:attempt", async (req, res) => {
  const attempt = attempts.get(req.params.attempt);
  if (attempt === undefined) {
    res.sendStatus(404);
    return;
  }
  const gone = new AbortController();
  res.on("close", () => gone.abort());
  try {
    const { type } = await push.waitForChallenge({
      ...attempt,
      timeoutMs: 25_000, // gateways cut a request after 30 s or 60 s
      signal: gone.signal,
    });
    // False for a second request that waited for the same outcome.
    const isFirst = attempts.delete(req.params.attempt);
    res.sendStatus(isFirst && type === "challenge.approved" ? 200 : 403);
  } catch (error) {
    if (gone.signal.aborted) return;
    const { code, status } = error instanceof WebhookError ? error : { code: "", status: 500 };
    // 202: not decided yet, send the request again. Proxies respond with other statuses.
    res.sendStatus(code === "CHALLENGE_TIMEOUT" ? 202 : status);
  }
});
app.listen(process.env.PORT ?? 3000);
