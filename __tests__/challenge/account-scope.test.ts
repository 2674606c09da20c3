import { eventFixture } from "express-push-verification/testing";
import { createAccountScope } from "../../lib/challenge/account-scope";

const A = `AC${"a".repeat(32)}`;
const B = `AC${"b".repeat(32)}`;
const event = eventFixture("challenge.approved", { account_sid: B });
const notAllowed = expect.objectContaining({ code: "ACCOUNT_NOT_ALLOWED", status: 403 }) as Error;

const createScope = (hasTokenPerAccount: boolean, allowed: ReadonlySet<string> | undefined) =>
  createAccountScope({ hasTokenPerAccount, allowedAccountSids: allowed, impliedAccount: "login" });

describe("createAccountScope", () => {
  it("needs no account for the static token of one account", () => {
    const scope = createScope(false, undefined);
    expect([scope.accountOf(event), scope.accountOfWait(undefined)]).toEqual(["login", "login"]);
    expect(scope.accountOfWait(A)).toBe("login");
  });

  it.each([false, true])(
    "implies the only allowed account (function: %s)",
    (hasTokenPerAccount) => {
      const scope = createScope(hasTokenPerAccount, new Set([A]));
      expect([scope.accountOf(event), scope.accountOfWait(undefined)]).toEqual([B, A]);
      expect(scope.accountOfWait(A)).toBe(A);
      expect(() => scope.accountOfWait(B)).toThrow(notAllowed);
    },
  );

  it("requires the account of a wait with a function", () => {
    const scope = createScope(true, undefined);
    expect([scope.accountOf(event), scope.accountOfWait(A)]).toEqual([B, A]);
    expect(() => scope.accountOfWait(undefined)).toThrow(TypeError);
  });

  it("separates the accounts that one token claims from those of other receivers", () => {
    const scope = createScope(false, new Set([A, B]));
    expect(scope.accountOf(event)).toBe(scope.accountOfWait(B));
    expect(scope.accountOf(event)).not.toBe(scope.accountOfWait(A));
    expect(scope.accountOf(event)).toContain("login");
    expect(() => scope.accountOfWait(undefined)).toThrow(TypeError);
  });

  it("rejects the wait for an account that is not allowed", () => {
    const scope = createScope(true, new Set([A, B]));
    expect(() => scope.accountOfWait(`AC${"c".repeat(32)}`)).toThrow(notAllowed);
  });
});
