/** The trace that a rejected request leaves: a process warning, or a line of the logger. */
import { pushWebhooks } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL, toWebRequest } from "../support/webhook-requests";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
const good = eventRequest("challenge.approved");
const unsigned = { ...good, headers: { "content-type": "application/x-www-form-urlencoded" } };
const WRONG = "another-token-of-an-account";

it("warns once per code with the cause when there is neither a listener nor a logger", async () => {
  const push = pushWebhooks({ authToken: WRONG, publicUrl: PUBLIC_URL });
  for (const request of [good, good, unsigned, unsigned]) {
    expect(await push.fetch(toWebRequest(request))).toHaveProperty("status", 403);
  }
  expect(warnings.listCodes()).toEqual(["SIGNATURE_MISMATCH", "SIGNATURE_MISSING"]);
  expect(warnings.list()[0]?.[1].detail).toMatch(
    /^Possibly TOKEN_WRONG \([0-9a-f]{8} of AC[0-9a-f]{32}\): .*publicUrl.*authToken/,
  );
  expect(JSON.stringify(warnings.list())).not.toContain(WRONG);
});

it("gives the logger the cause of the first rejection of a code within 60 s", async () => {
  const warn = jest.fn();
  const logger = { debug() {}, info() {}, warn, error() {} };
  const publicUrl = PUBLIC_URL.replace("https", "http");
  const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl, logger });
  for (let times = 0; times < 2; times++) await push.fetch(toWebRequest(good));
  const rejected = { code: "SIGNATURE_MISMATCH", status: 403, method: "POST" };
  expect(warn.mock.calls.map(([fields]) => fields)).toEqual([
    expect.objectContaining({
      ...rejected,
      cause: "URL_SCHEME",
      subject: PUBLIC_URL,
      fix: expect.any(String),
    }),
    expect.not.objectContaining({ cause: expect.anything() }),
  ]);
});
