import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { readLibrary } from "../support/docs";
import { ACCOUNT_SID, AUTH_TOKEN, PUBLIC_URL } from "../support/webhook-requests";

const receiver = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };
/** Interfaces of options that no app writes. */
const INTERNAL = /^(Waiters|Deduplication|FairMap|RequestRetry|Server|WebhookError)Options$/;
const OPTIONS =
  /(Options|Input|Change|Query|Settings|Overrides|Decision|Context|Fault|Backoff)$|^New[A-Z]/;

/** Lists the optional members of options that do not accept undefined under exactOptionalPropertyTypes. */
function listStrict(): string[] {
  const code = readLibrary().replaceAll(/\/\*\*[^]*?\*\//g, "");
  const interfaces = code.matchAll(/^export (?:interface|type) (\w+)[^{;]*\{\n([^]*?)^\}/gm);
  return [...interfaces].flatMap(([, name = "", body = ""]) => {
    if (!OPTIONS.test(name) || INTERNAL.test(name)) return [];
    const strict = body.matchAll(/^  (?:readonly )?(\w+)\?:((?!undefined)[^;])*;/gm);
    return Array.from(strict, ([, member]) => `${name}.${member}`);
  });
}

describe("an optional option", () => {
  it("accepts undefined in the types of every function", () => {
    expect(listStrict()).toEqual([]);
  });

  it("may be undefined at run time", async () => {
    const none = undefined;
    const unset = { signatureHeader: none, urlMatching: none, limitBytes: none };
    const push = pushWebhooks({ ...receiver, ...unset, name: "login", dedupe: none, logger: none });
    const handler = jest.fn();
    const event = { type: "x.y", uuid: "u", account_sid: ACCOUNT_SID, params: [], issues: [] };
    const context = { attempt: none, receiver: none, publicUrlIndex: 2 };
    await push.onAny(handler).dispatch(event, context);
    const byDefault = { attempt: 1, authTokenIndex: 0, publicUrlIndex: 2, receiver: "login" };
    expect(handler.mock.calls[0][1]).toMatchObject(byDefault);
    await push.close({ deadlineMs: none });
    signedRequest(
      receiver,
      "factor.created",
      { factor_metadata: none },
      { version: none, method: none },
    );
  });
});
