/** The trace that a rejected request leaves: a process warning, or a line of the logger. */
import { pushWebhooks, type PushWebhooksOptions } from "express-push-verification";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

afterEach(stopServers);

const good = eventRequest("challenge.approved");
const unsigned = { ...good, headers: { "content-type": "application/x-www-form-urlencoded" } };
const HOST = new URL(PUBLIC_URL).host;
const WRONG = "another-token-of-an-account";

async function startReceiver(options: Partial<PushWebhooksOptions>): Promise<number> {
  const push = pushWebhooks({ authToken: WRONG, publicUrl: PUBLIC_URL, ...options });
  return startServer((req, res) => void push(req, res));
}

it("warns once per code with the cause when there is neither a listener nor a logger", async () => {
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  const port = await startReceiver({});
  const atHost = { ...good, headers: { ...good.headers, "X-Forwarded-Host": HOST } };
  for (const request of [atHost, good, unsigned, unsigned]) {
    expect(await send(port, request)).toHaveProperty("status", 403);
  }
  expect(warning.mock.calls.map(([, options]) => options)).toMatchObject([
    {
      code: "SIGNATURE_MISMATCH",
      detail: expect.stringMatching(
        /^Possibly TOKEN_WRONG \([0-9a-f]{8} of AC[0-9a-f]{32}\): .*publicUrl.*authToken/,
      ),
    },
    { code: "SIGNATURE_MISSING" },
  ]);
  expect(JSON.stringify(warning.mock.calls)).not.toContain(WRONG);
  warning.mockRestore();
});

it("gives the logger the cause of the first rejection of a code within 60 s", async () => {
  const warn = jest.fn();
  const logger = { debug() {}, info() {}, warn, error() {} };
  const wrongUrl = PUBLIC_URL.replace("https", "http");
  const port = await startReceiver({ authToken: AUTH_TOKEN, publicUrl: wrongUrl, logger });
  await send(port, good);
  await send(port, good);
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
