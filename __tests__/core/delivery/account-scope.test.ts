import { createAccountScope } from "../../../lib/core/delivery/account-scope";
import { eventFixture } from "express-push-verification/testing";
import { toOutcome } from "../../../lib/core/delivery/outcome";

const sidOf = (digit: string) => `AC${digit.repeat(32)}`;
const [one, two, three] = [sidOf("1"), sidOf("2"), sidOf("3")] as const;
const outcome = toOutcome(eventFixture("challenge.approved", { account_sid: one }));
const resolver = () => "token";
const REQUIRED: unknown = expect.objectContaining({ name: "TypeError" });
const REJECTED: unknown = expect.objectContaining({ code: "ACCOUNT_NOT_ALLOWED", status: 403 });

it.each<[token: unknown, allowed: string[] | undefined, own: string, ...waits: unknown[]]>([
  [resolver, undefined, one, REQUIRED, one, three],
  [resolver, [one, two], one, REQUIRED, one, REJECTED],
  [resolver, [one], one, one, one, REJECTED],
  ["token", [one], one, one, one, REJECTED],
  ["token", [one, two], `login ${one}`, REQUIRED, `login ${one}`, REJECTED],
  ["token", undefined, "login", "login", "login", "login"],
])("with the token %p and the accounts %j, an event and waits belong to %s", (...row) => {
  const [authToken, allowed, own, ...waits] = row;
  const allowedAccountSids = allowed && new Set(allowed);
  const allowedServiceSids = new Set([outcome.service_sid]);
  const accounts = { authToken, allowedAccountSids, allowedServiceSids };
  const scope = createAccountScope({ ...accounts, name: "login", publicUrls: [] });
  expect(scope.accountOf(one)).toBe(own);
  const waitOf = (accountSid?: string) => {
    try {
      return scope.accountOfWait(accountSid);
    } catch (error) {
      return error;
    }
  };
  expect([waitOf(), waitOf(one), waitOf(three)]).toEqual(waits);
  expect(scope.accepts(own, outcome)).toBe(true);
  expect(scope.accepts(own, { ...outcome, account_sid: two })).toBe(own === "login");
  expect(scope.accepts(own, { ...outcome, service_sid: "VA" })).toBe(false);
});

it("without a name has the same account after a new publicUrl is put before the old one", () => {
  const options = { authToken: "token", allowedAccountSids: undefined };
  const accounts = [["old"], ["new", "old"], ["other"]].map((publicUrls) =>
    createAccountScope({ ...options, publicUrls }).accountOf(one),
  );
  expect(accounts[1]).toBe(accounts[0]);
  expect(accounts[2]).not.toBe(accounts[0]);
});
