import { eventFixture } from "express-push-verification/testing";
import type { QueuedEvent } from "../../../lib/core/delivery/event-queue";
import { readOutcome, toOutcome } from "../../../lib/core/delivery/outcome";
import { StoredOutcomes } from "../../../lib/core/delivery/stored-outcomes";

const event = eventFixture("challenge.approved");
const { account_sid: accountSid, entity_identity: entityIdentity } = event;
const outcomes = new StoredOutcomes(1, (key) => `hash of ${key}`);
const written = outcomes.write("account", toOutcome(event));

it("writes outcomes that wake their waits, without those to be confirmed", async () => {
  const queued = { event, authenticatedAccount: "account" } as never as QueuedEvent;
  expect(outcomes.writeOf(queued)?.key).toBe(written.key);
  expect(outcomes.writeOf({ ...queued, needsConfirmation: true })).toBeUndefined();
  expect(outcomes.writeOf({ ...queued, event: eventFixture("factor.created") })).toBeUndefined();
  const key = { authenticatedAccount: "account", challengeSid: event.challenge_sid };
  const wait = outcomes.wait({ ...key, timeoutMs: 60_000 });
  expect(outcomes.listKeys()).toEqual([written.key]);
  outcomes.read(written.key, "of another version");
  outcomes.read(written.key, written.value);
  expect(await wait).toEqual({ ...toOutcome(event), at: expect.any(Date) });
});

it.each([
  [{}, true],
  [{ accountSid: "AC" }, false],
  [{ entityIdentity: "eve" }, false],
])("is an outcome of the user %j: %j", (change, isOf) => {
  expect(StoredOutcomes.isOf({ accountSid, entityIdentity, ...change }, written.value)).toBe(isOf);
  expect(StoredOutcomes.isOf({ accountSid, entityIdentity }, "{}")).toBe(false);
});

it.each([...["factor.created", "AC", "VA", "YC", "YF", 5, "now", "ada"].entries()])(
  "reads no outcome whose member %i is %j",
  (index, member) => {
    const members = JSON.parse(written.value) as unknown[];
    members[index] = member;
    expect(readOutcome(JSON.stringify(members))).toBeUndefined();
  },
);
