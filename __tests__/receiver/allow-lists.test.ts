import { assertAllowed, type AllowLists } from "../../lib/receiver/allow-lists";
import { parseEvent } from "../../lib/event/parse";
import { ACCOUNT_SID, eventPairs, SERVICE_SID } from "../support/webhook-requests";

const OTHER_ACCOUNT = `AC${"9".repeat(32)}`;
const OTHER_SERVICE = `VA${"9".repeat(32)}`;
const ALL: AllowLists = { allowedAccountSids: undefined, allowedServiceSids: undefined };
const event = parseEvent(eventPairs("factor.created", "v2", {}));

const check = (lists: Partial<AllowLists>, ofToken?: readonly string[]) => () =>
  assertAllowed({ ...ALL, ...lists }, ofToken, event);

it.each<[string, Partial<AllowLists>, readonly string[] | undefined]>([
  ["no list", {}, undefined],
  ["its account", { allowedAccountSids: new Set([OTHER_ACCOUNT, ACCOUNT_SID]) }, undefined],
  ["its service", { allowedServiceSids: new Set([SERVICE_SID]) }, undefined],
  ["the services of the token", {}, [OTHER_SERVICE, SERVICE_SID]],
])("accepts an event that %s allows", (_what, lists, ofToken) => {
  expect(check(lists, ofToken)).not.toThrow();
});

it.each<[string, Partial<AllowLists>, readonly string[] | undefined]>([
  ["allowedAccountSids", { allowedAccountSids: new Set([OTHER_ACCOUNT]) }, undefined],
  ["allowedServiceSids", { allowedServiceSids: new Set([OTHER_SERVICE]) }, undefined],
  ["the services of the token", {}, [OTHER_SERVICE]],
  ["an empty list of services of the token", {}, []],
])("rejects an event that %s does not have", (_what, lists, ofToken) => {
  expect(check(lists, ofToken)).toThrow(expect.objectContaining({ code: "ACCOUNT_NOT_ALLOWED" }));
});
