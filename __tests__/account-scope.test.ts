import { eventFixture } from "express-push-verification/testing";
import { createAccountScope } from "../lib/account-scope";

const A = `AC${"a".repeat(32)}`;
const B = `AC${"b".repeat(32)}`;
const event = eventFixture("challenge.approved", { account_sid: B });
const notAllowed = expect.objectContaining({ code: "ACCOUNT_NOT_ALLOWED", status: 403 }) as Error;

describe("createAccountScope", () => {
  it("needs no account for the static token of one account", () => {
    const scope = createAccountScope(false, undefined);
    expect([scope.accountOf(event), scope.accountOfWait(undefined)]).toEqual(["", ""]);
    expect(scope.accountOfWait(A)).toBe("");
  });

  it.each([false, true])(
    "implies the only allowed account (function: %s)",
    (hasTokenPerAccount) => {
      const scope = createAccountScope(hasTokenPerAccount, new Set([A]));
      expect([scope.accountOf(event), scope.accountOfWait(undefined)]).toEqual([B, A]);
      expect(scope.accountOfWait(A)).toBe(A);
      expect(() => scope.accountOfWait(B)).toThrow(notAllowed);
    },
  );

  it.each([
    ["a function", createAccountScope(true, undefined)],
    ["several accounts", createAccountScope(false, new Set([A, B]))],
  ])("requires the account of a wait with %s", (_what, scope) => {
    expect(scope.accountOf(event)).toBe(B);
    expect(scope.accountOfWait(A)).toBe(A);
    expect(() => scope.accountOfWait(undefined)).toThrow(TypeError);
  });

  it("rejects the wait for an account that is not allowed", () => {
    const scope = createAccountScope(true, new Set([A, B]));
    expect(() => scope.accountOfWait(`AC${"c".repeat(32)}`)).toThrow(notAllowed);
  });
});
