import { listSuspicions } from "../lib/explain-suspicions";

const signature = "spltyRVLIB+qQr/llzKRKlLsVRc=";
const call = { url: "https://a.example/p", authToken: "t" };
const codes = (...given: Parameters<typeof listSuspicions>) =>
  listSuspicions(...given).map(({ code }) => code);

describe("listSuspicions", () => {
  it.each<[string, Parameters<typeof listSuspicions>, string[]]>([
    [
      "nothing to go by",
      [call, [["a", "b"]], signature],
      ["TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
    ["no signature", [call, [["a", "b"]], ""], ["SIGNATURE_MISSING"]],
    ["no parameters", [call, [], signature], ["PARAMS_MISSING", "TOKEN_WRONG", "URL_PATH"]],
    [
      "no form",
      [{ ...call, body: "a=%zz" }, [], signature],
      ["PARAMS_MALFORMED", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "JSON for a form",
      [{ ...call, body: '{"a":{}}' }, [], signature],
      ["BODY_JSON", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "a body that a parser made",
      [{ ...call, body: { a: "[object Object]" } }, [["a", "[object Object]"]], signature],
      ["BODY_PARSED", "PARAMS_ALTERED", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "a GET without a query",
      [{ ...call, method: "GET" }, [], signature],
      ["URL_QUERY_MISSING", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "a SID for a token",
      [{ ...call, authToken: `AC${"0".repeat(32)}` }, [["a", "b"]], signature],
      ["TOKEN_NOT_A_TOKEN", "TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
    [
      "another account",
      [{ ...call, accountSid: "AC1" }, [["account_sid", "AC2"]], signature],
      ["TOKEN_ACCOUNT", "TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
  ])("%s", (_what, given, expected) => {
    expect(codes(...given)).toEqual(expected);
    for (const { code, isProven, subject } of listSuspicions(...given)) {
      expect(isProven).toBe(false);
      if (code.startsWith("URL_")) expect(subject).toBe(call.url);
    }
  });
});
