import { listSuspicions } from "../../../lib/signature/explain/suspicions";

const signature = "spltyRVLIB+qQr/llzKRKlLsVRc=";
const request = { url: "https://a.example/p", authToken: "t" };
const codes = (...given: Parameters<typeof listSuspicions>) =>
  listSuspicions(...given).map(({ code }) => code);

describe("listSuspicions", () => {
  it.each<[string, Parameters<typeof listSuspicions>, string[]]>([
    [
      "no evidence",
      [request, [["a", "b"]], signature],
      ["TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
    ["no signature", [request, [["a", "b"]], ""], ["SIGNATURE_MISSING"]],
    ["no parameters", [request, [], signature], ["PARAMS_MISSING", "TOKEN_WRONG", "URL_PATH"]],
    [
      "a malformed form",
      [{ ...request, body: "a=%zz" }, [], signature],
      ["PARAMS_MALFORMED", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "JSON in place of a form",
      [{ ...request, body: '{"a":{}}' }, [], signature],
      ["BODY_JSON", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "the object of a parser",
      [{ ...request, body: { a: "[object Object]" } }, [["a", "[object Object]"]], signature],
      ["BODY_PARSED", "PARAMS_ALTERED", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "a body that a parser made, of another account",
      [
        { ...request, accountSid: "AC1", authToken: `AC${"0".repeat(32)}`, body: { a: "b" } },
        [["account_sid", "AC2"]],
        signature,
      ],
      [
        "BODY_PARSED",
        "TOKEN_ACCOUNT",
        "TOKEN_NOT_A_TOKEN",
        "TOKEN_WRONG",
        "URL_PATH",
        "PARAMS_ALTERED",
      ],
    ],
    [
      "a GET without a query",
      [{ ...request, method: "GET" }, [], signature],
      ["URL_QUERY_MISSING", "TOKEN_WRONG", "URL_PATH"],
    ],
    [
      "a SID in place of a token",
      [{ ...request, authToken: `AC${"0".repeat(32)}` }, [["a", "b"]], signature],
      ["TOKEN_NOT_A_TOKEN", "TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
    [
      "another account",
      [{ ...request, accountSid: "AC1" }, [["account_sid", "AC2"]], signature],
      ["TOKEN_ACCOUNT", "TOKEN_WRONG", "URL_PATH", "PARAMS_ALTERED"],
    ],
  ])("%s", (_what, given, expected) => {
    expect(codes(...given)).toEqual(expected);
    for (const { code, isProven, subject } of listSuspicions(...given)) {
      expect(isProven).toBe(false);
      if (code.startsWith("URL_")) expect(subject).toBe(request.url);
    }
  });
});
