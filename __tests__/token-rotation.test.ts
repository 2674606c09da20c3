import { useChannels } from "./support/channels";
import { eventPairs, signedRequestOf } from "./support/webhook-requests";
import { createReceiver } from "./support/receivers";
import { createGate, nextTurn } from "./support/waiting";

const OLD = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const NEW = "93d1f6a2b8c74d0e8a5f2c1b7e604d39";
const published = useChannels("duplicate", "conflict");
const listResults = () => published.map(([result]) => result);

const uuid = "0f7f0b6e-0001-4c86-9a1e-1f3a1f6c1f11";
const params = eventPairs("factor.created", "v2", { uuid });
const otherParams = eventPairs("factor.created", "v2", { uuid, entity_identity: "user-2" });
const signedBy = (authToken: string, given = params) => signedRequestOf(given, { authToken });

describe.each([
  ["a list of three tokens", [NEW, "another-token-of-the-account", OLD]],
  ["a function of two tokens", () => [OLD, NEW]],
])("a receiver whose authToken is %s", (_what, authToken) => {
  it("reports a redelivery signed with the other token as a duplicate", async () => {
    const { receive, events } = createReceiver({ authToken });
    for (const request of [
      ...[OLD, NEW, OLD].map((by) => signedBy(by)),
      signedBy(NEW, otherParams),
    ])
      expect(await receive(request)).toBe(200);
    expect([events.length, listResults()]).toEqual([1, ["duplicate", "duplicate", "conflict"]]);
  });

  it.each([
    ["a duplicate", signedBy(NEW), "duplicate"],
    ["a conflict if it has other content", signedBy(NEW, otherParams), "conflict"],
  ])("reports one that arrives while the handlers run as %s", async (_case, request, result) => {
    const gate = createGate();
    const { push, receive } = createReceiver({ authToken });
    push.onAny(() => gate.opened);
    const statuses = [receive(signedBy(OLD)), receive(request)];
    // Wait until both have arrived.
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    expect(published).toEqual([]);
    gate.open();
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    expect(listResults()).toEqual([result]);
  });
});
