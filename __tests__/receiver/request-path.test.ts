import { pushWebhooks, type EventQueue, type QueuedEvent } from "express-push-verification";
import { createAccountScope } from "../../lib/event/account-scope";
import { createMemoryOutcomes } from "../../lib/memory/memory-outcomes";
import { resolveReceiverOptions } from "../../lib/receiver/options";
import { createReceive } from "../../lib/receiver/request-path";
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  eventPairs,
  eventRequest,
  PUBLIC_URL,
  signedRequestOf,
} from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

const options = { authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL };

afterEach(stopServers);

describe("the request path", () => {
  it.each(["POST", "GET"] as const)(
    "stores the event of a %s in its queue with the data for its delivery",
    async (method) => {
      const stored: QueuedEvent[] = [];
      const store: EventQueue["store"] = async (queued) => (stored.push(queued), "new");
      const push = pushWebhooks({
        authToken: ["next", AUTH_TOKEN],
        publicUrl: ["https://new.example.test/push", PUBLIC_URL],
        name: "login",
        methods: ["POST", "GET"],
        queue: { store, outcomes: createMemoryOutcomes() },
      });
      const port = await startServer(push);
      const request = eventRequest("challenge.approved", { uuid: "u1" }, { method });
      expect(await send(port, request)).toHaveProperty("status", 200);
      expect(stored).toEqual([
        {
          event: expect.objectContaining({ type: "challenge.approved", uuid: "u1" }),
          account: "login",
          accountSid: ACCOUNT_SID,
          uuid: "u1",
          contentHash: request.headers["x-service-signature"],
          listOtherHashes: expect.any(Function),
          authTokenIndex: 1,
          publicUrlIndex: 1,
          receiver: "login",
        },
      ]);
    },
  );

  it("delivers nothing when a step throws", async () => {
    const deliver = jest.fn(() => Promise.reject(new Error("delivered")));
    const scope = createAccountScope({
      hasTokenPerAccount: false,
      allowedAccountSids: undefined,
      impliedAccount: "",
    });
    const receive = createReceive(resolveReceiverOptions(options), scope, deliver);
    const thrown: unknown[] = [];
    const port = await startServer((req, res) => {
      receive(req, res, Number.POSITIVE_INFINITY, undefined).catch((error: unknown) => {
        thrown.push(error);
        res.end();
      });
    });
    const signed = eventRequest("factor.created");
    const { "content-type": _form, ...headers } = signed.headers;
    for (const request of [
      { ...signed, headers },
      { ...signed, body: "%zz" },
      { ...signed, body: "x=1" },
      signedRequestOf(eventPairs("factor.created", "v2", { uuid: undefined })),
    ]) {
      await send(port, request);
    }
    const named = { name: "FormError" };
    const coded = ["SIGNATURE_MISMATCH", "PAYLOAD_INVALID"].map((code) => ({ code }));
    expect(thrown).toMatchObject([{ code: "CONTENT_TYPE_UNSUPPORTED" }, named, ...coded]);
    expect(deliver).not.toHaveBeenCalled();
    await send(port, signed);
    expect(thrown.at(-1)).toMatchObject({ message: "delivered" });
  });
});
