import { Readable } from "node:stream";
import { createAccountScope } from "../lib/account-scope";
import { createAuthenticate } from "../lib/authenticate";
import { resolveReceiverOptions } from "../lib/options";
import { ACCOUNT_SID, AUTH_TOKEN, eventCall, PUBLIC_URL, type TestCall } from "./support/calls";

const scope = createAccountScope({
  hasTokenPerAccount: false,
  allowedAccountSids: undefined,
  impliedAccount: "login",
});
const authenticate = createAuthenticate(
  resolveReceiverOptions("test", {
    authToken: ["next", AUTH_TOKEN],
    publicUrl: ["https://new.example.test/push", PUBLIC_URL],
    name: "login",
  }),
  scope,
);
const never = Number.POSITIVE_INFINITY;

/** What a step reads of a request, without a server. */
function requestOf({ method, path, headers, body = "" }: TestCall): never {
  const stream = Readable.from([Buffer.from(body)], { objectMode: false });
  const length = { "content-length": String(Buffer.byteLength(body)) };
  const all = method === "POST" ? { ...headers, ...length } : headers;
  return Object.assign(stream, { method, url: path, headers: all, rawHeaders: [] }) as never;
}

describe("createAuthenticate", () => {
  it.each(["POST", "GET"] as const)(
    "returns the event of a %s and what delivers it",
    async (method) => {
      const call = eventCall("challenge.approved", { uuid: "u1" }, { method });
      expect(await authenticate(requestOf(call), {} as never, never)).toEqual({
        event: expect.objectContaining({ type: "challenge.approved", uuid: "u1" }),
        account: "login",
        accountSid: ACCOUNT_SID,
        uuid: "u1",
        contentHash: call.headers["x-service-signature"],
        authTokenIndex: 1,
        publicUrlIndex: 1,
        receiver: "login",
      });
    },
  );

  it.each([
    ["METHOD_NOT_ALLOWED", { ...eventCall("factor.created"), method: "PUT" }],
    ["SIGNATURE_MISSING", { ...eventCall("factor.created"), headers: {} }],
    ["SIGNATURE_MISMATCH", eventCall("factor.created", {}, { authToken: "other" })],
    ["PAYLOAD_INVALID", eventCall("factor.created", { factor_sid: undefined })],
  ])("rejects with %s", async (code, call) => {
    await expect(authenticate(requestOf(call), {} as never, never)).rejects.toHaveProperty(
      "code",
      code,
    );
  });
});
