import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { warnOfWhitespace } from "../../lib/receiver/token-warning";
import { signedRequest } from "express-push-verification/testing";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL as publicUrl } from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

const code = "AUTH_TOKEN_WHITESPACE";
let warnings: jest.SpyInstance;

beforeEach(() => {
  warnings = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(async () => {
  warnings.mockRestore();
  await stopServers();
});

/** The warnings of white space, without the token in any of them. */
function takeWarnings(): string[] {
  const messages = warnings.mock.calls
    .filter(([, options]) => (options as { code?: string } | undefined)?.code === code)
    .map(([message]) => String(message));
  for (const message of messages) expect(message).not.toContain(AUTH_TOKEN);
  warnings.mockClear();
  return messages;
}

describe("warnOfWhitespace", () => {
  it.each([`${AUTH_TOKEN}\n`, ` ${AUTH_TOKEN}`, `${AUTH_TOKEN}\r\n`, `\uFEFF${AUTH_TOKEN}`, "\t"])(
    "warns of %j once for each source",
    (token) => {
      const source = `test ${JSON.stringify(token.replace(AUTH_TOKEN, "…"))}`;
      for (let times = 0; times < 2; times++) warnOfWhitespace(source, ["good", token]);
      expect(takeWarnings()).toEqual([expect.stringContaining(source)]);
    },
  );

  it.each([[[AUTH_TOKEN]], [["a b"]], [[]]])("does not warn of %j", (tokens) => {
    warnOfWhitespace("test", tokens);
    expect(takeWarnings()).toEqual([]);
  });
});

it("warns when a receiver is created, and names the place in a list", () => {
  pushWebhooks({ authToken: AUTH_TOKEN, publicUrl });
  pushWebhooks({ authToken: () => `${AUTH_TOKEN}\n`, publicUrl });
  expect(takeWarnings()).toEqual([]);
  pushWebhooks({ authToken: `${AUTH_TOKEN}\n`, publicUrl });
  pushWebhooks({ authToken: [AUTH_TOKEN, `${AUTH_TOKEN}\n`], publicUrl });
  expect(takeWarnings()).toEqual([
    expect.stringContaining("pushWebhooks: authToken has"),
    expect.stringContaining("pushWebhooks: authToken[1] has"),
  ]);
});

it("warns once of a token that a resolver returns, and responds 403", async () => {
  const push = pushWebhooks({ authToken: () => `${AUTH_TOKEN}\n`, publicUrl });
  push.onRejected(() => {});
  const port = await startServer((req, res) => void push(req, res));
  for (let times = 0; times < 2; times++) {
    expect(await send(port, eventRequest("factor.created"))).toHaveProperty("status", 403);
  }
  expect(takeWarnings()).toEqual([expect.stringContaining("function authToken")]);
});

it("warns once of a token that verifyPushRequest is given for each request", async () => {
  const authToken = `${AUTH_TOKEN} `;
  const request = signedRequest({ authToken: AUTH_TOKEN, publicUrl }, "factor.created");
  for (let times = 0; times < 2; times++) {
    await expect(verifyPushRequest(request, { authToken, publicUrl })).rejects.toHaveProperty(
      "code",
      "SIGNATURE_MISMATCH",
    );
  }
  expect(takeWarnings()).toEqual([expect.stringContaining("verifyPushRequest: authToken has")]);
});
