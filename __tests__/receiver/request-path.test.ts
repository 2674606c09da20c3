import { pushWebhooks, type EventQueue, type QueuedEvent } from "express-push-verification";
import { createMemoryOutcomes } from "../../lib/challenge/memory-outcomes";
import { ACCOUNT_SID, AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";
import { send, startServer, stopServers } from "../support/servers";

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
          needsConfirmation: false,
          authTokenIndex: 1,
          publicUrlIndex: 1,
          receiver: "login",
        },
      ]);
    },
  );
});
