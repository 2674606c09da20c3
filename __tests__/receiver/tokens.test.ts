import { pushWebhooks, verifyPushRequest } from "express-push-verification";
import { readClaimedIdentity, readTokens, warnOfWhitespace } from "../../lib/receiver/tokens";
import { signedRequest } from "express-push-verification/testing";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventRequest,
  PUBLIC_URL as publicUrl,
  SERVICE_SID,
} from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

describe("readClaimedIdentity", () => {
  it("reads the SIDs that a request claims", () => {
    const params = [
      ["x", "1"],
      ["service_sid", SERVICE_SID],
      ["account_sid", ACCOUNT_SID],
    ] as const;
    expect(readClaimedIdentity(params)).toEqual({
      account_sid: ACCOUNT_SID,
      service_sid: SERVICE_SID,
    });
  });

  it("omits values without the form of a SID, because the app may look them up in a database", () => {
    const params = [
      ["account_sid", "' OR 1=1 --"],
      ["service_sid", ACCOUNT_SID],
    ] as const;
    expect(readClaimedIdentity(params)).toEqual({});
  });
});

describe("readTokens", () => {
  it.each<[unknown, string[]]>([
    ["a", ["a"]],
    [
      ["a", "b"],
      ["a", "b"],
    ],
    [undefined, []],
    [null, []],
    ["", []],
    [["", "a", 5, null], ["a"]],
    [{ a: 1 }, []],
    [{ authToken: "a" }, ["a"]],
    [{ authToken: ["", "a"] }, ["a"]],
  ])("reads %j as the tokens %j, for every service", (resolved, tokens) => {
    expect(readTokens(resolved)).toEqual({ tokens, serviceSids: undefined });
  });

  it.each<[unknown, string[]]>([
    [["VA1"], ["VA1"]],
    [[], []],
    ["VA1", []],
    [null, []],
  ])("reads serviceSids %j as %j", (serviceSids, allowed) => {
    expect(readTokens({ authToken: "a", serviceSids })).toEqual({
      tokens: ["a"],
      serviceSids: allowed,
    });
  });
});

describe("the warning of white space in a token", () => {
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
    it.each([
      `${AUTH_TOKEN}\n`,
      ` ${AUTH_TOKEN}`,
      `${AUTH_TOKEN}\r\n`,
      `\uFEFF${AUTH_TOKEN}`,
      "\t",
    ])("warns of %j once for each source", (token) => {
      const source = `test ${JSON.stringify(token.replace(AUTH_TOKEN, "…"))}`;
      for (let times = 0; times < 2; times++) warnOfWhitespace(source, ["good", token]);
      expect(takeWarnings()).toEqual([expect.stringContaining(source)]);
    });

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
});
