import { useChannels } from "./support/channels";
import { eventPairs, signedRequestOf } from "./support/webhook-requests";
import { createReceiver } from "./support/receivers";
import { createGate, nextTurn } from "./support/waiting";

const OLD = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const NEW = "93d1f6a2b8c74d0e8a5f2c1b7e604d39";
const published = useChannels("duplicate", "conflict");

const uuid = "0f7f0b6e-0001-4c86-9a1e-1f3a1f6c1f11";
const params = eventPairs("factor.created", "v2", { uuid });
const otherParams = eventPairs("factor.created", "v2", { uuid, entity_identity: "user-2" });
const signedBy = (authToken: string, given = params) => signedRequestOf(given, { authToken });

it.each([
  ["a list of three tokens", [NEW, "another-token-of-the-account", OLD]],
  ["a function of two tokens", () => [OLD, NEW]],
])(
  "%s: a redelivery signed with the other one is a duplicate, with other content a conflict",
  async (_what, authToken) => {
    const { push, events, receive } = createReceiver({ authToken });
    const gate = createGate();
    push.onAny(() => gate.opened);
    const redelivered = [signedBy(NEW), signedBy(NEW, otherParams)];
    const statuses = [signedBy(OLD), ...redelivered].map(receive);
    // Wait until all have arrived.
    for (let turns = 0; turns < 20; turns++) await nextTurn();
    expect(published).toEqual([]);
    gate.open();
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
    for (const request of [...redelivered, signedBy(OLD)]) expect(await receive(request)).toBe(200);
    const results = ["duplicate", "conflict", "duplicate", "conflict", "duplicate"];
    expect(events).toHaveLength(1);
    expect(published.map(([result]) => result)).toEqual(results);
  },
);
