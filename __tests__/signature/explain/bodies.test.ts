import {
  explainSignature,
  sign,
  type ExplainSignatureOptions,
  type Pair,
} from "express-push-verification";
import {
  asGivenBody,
  isJsonBody,
  isParsedBody,
  listBodyPairs,
  listJsonPairs,
  type GivenBody,
} from "../../../lib/signature/explain/bodies";
import { AUTH_TOKEN, eventPairs, encodeForm, PUBLIC_URL } from "../../support/webhook-requests";

describe("asGivenBody", () => {
  it.each([["a"], [Buffer.from("a")], [{ a: "b" }], [{ a: ["b", "c"] }]])("accepts %j", (body) => {
    expect(asGivenBody(body)).toBe(body);
  });

  it.each([
    [undefined],
    [null],
    [""],
    [new Uint8Array()],
    [1],
    [{}],
    [["a"]],
    [[["a", "b"]]],
    [{ a: 1 }],
    [{ a: { b: "c" } }],
    [{ a: ["b", 1] }],
  ])("takes no %j", (body) => expect(asGivenBody(body)).toBeUndefined());
});

describe("the readers of a body", () => {
  it.each<[GivenBody | undefined, Pair[] | undefined, Pair[] | undefined]>([
    [
      "a=1&b=+",
      [
        ["a", "1"],
        ["b", " "],
      ],
      undefined,
    ],
    [Buffer.from("a=%C3%AB"), [["a", "\u00eb"]], undefined],
    [
      { a: ["1", "2"], b: "" },
      [
        ["a", "1"],
        ["a", "2"],
        ["b", ""],
      ],
      undefined,
    ],
    ['{"a":"1"}', [['{"a":"1"}', ""]], [["a", "1"]]],
    [
      Buffer.from(' {"a":["1","+2"]}'),
      [[' {"a":["1"," 2"]}', ""]],
      [
        ["a", "1"],
        ["a", "+2"],
      ],
    ],
    ['{"a":1}', [['{"a":1}', ""]], undefined],
    ['{"a":{"b":"c"}}', [['{"a":{"b":"c"}}', ""]], undefined],
    ["{}", [["{}", ""]], undefined],
    ['["a"]', [['["a"]', ""]], undefined],
    ['{"a":', [['{"a":', ""]], undefined],
    ["%zz", undefined, undefined],
    ["", undefined, undefined],
    [undefined, undefined, undefined],
  ])("read %j", (body, inForm, inJson) => {
    expect(listBodyPairs(body)).toEqual(inForm);
    expect(listJsonPairs(body)).toEqual(inJson);
  });

  it("distinguish JSON, a parsed object and a form", () => {
    expect(['{"a":{}}', "{}", "[1]", "a=1", '{"a"'].map(isJsonBody)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(isJsonBody(`{"a":"${"x".repeat(65_536)}"}`)).toBe(false);
    expect([{ a: "b" }, "a=b", Buffer.from("a=b"), undefined].map(isParsedBody)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("explainSignature", () => {
  const params: Pair[] = [
    ...eventPairs("challenge.approved", "v2", { entity_identity: "user+7@example.com" }),
    ["tag", "a"],
    ["tag", "b"],
  ];
  const signature = sign({ authToken: AUTH_TOKEN, url: PUBLIC_URL, params });
  const object = { ...Object.fromEntries(params), tag: ["a", "b"] };
  const json = JSON.stringify(object);
  const codesOf = (given: Partial<ExplainSignatureOptions>) =>
    explainSignature({
      authToken: AUTH_TOKEN,
      url: PUBLIC_URL,
      params,
      signature,
      ...given,
    }).causes.map(({ code, isProven }) => `${code} ${isProven}`);

  it.each<[string, Partial<ExplainSignatureOptions>, string[]]>([
    ["without parameters", { params: [], body: json }, ["BODY_JSON true"]],
    [
      "that was read as a form",
      { params: listBodyPairs(json) ?? [], body: json },
      ["BODY_JSON true"],
    ],
    ["as bytes", { params: [], body: Buffer.from(json) }, ["BODY_JSON true"]],
    [
      "and another scheme",
      { params: [], body: json, url: PUBLIC_URL.replace("https", "http") },
      ["URL_SCHEME true", "BODY_JSON true"],
    ],
  ])("proves a body of JSON %s", (_what, given, codes) => {
    expect(codesOf(given)).toEqual(codes);
  });

  it("suspects JSON that it cannot parse before the token, and never a form", () => {
    const nested = JSON.stringify({ ...object, tag: { a: "b" } });
    expect(codesOf({ params: [], body: nested })[0]).toBe("BODY_JSON false");
    const codes = codesOf({ authToken: "another", body: encodeForm(params) });
    expect(codes[0]).toBe("TOKEN_WRONG false");
  });

  it("lists BODY_PARSED first when a parser made the parameters", () => {
    const altered = { ...object, entity_identity: "user" };
    expect(codesOf({ params: altered })[0]).toBe("BODY_PARSED false");
    expect(codesOf({ params: [], body: altered })[0]).toBe("PARAMS_MISSING false");
    const sid = `AC${"0".repeat(32)}`;
    expect(codesOf({ params: altered, accountSid: sid }).slice(0, 2)).toEqual([
      "BODY_PARSED false",
      "TOKEN_ACCOUNT false",
    ]);
    const trimmed = { ...object, factor_friendly_name: "Zoë's phone" };
    const signed = sign({
      authToken: AUTH_TOKEN,
      url: PUBLIC_URL,
      params: { ...trimmed, factor_friendly_name: "Zoë's phone " },
    });
    expect(codesOf({ params: trimmed, signature: signed })).toEqual([
      "BODY_PARSED false",
      "PARAMS_WHITESPACE true",
    ]);
    const url = PUBLIC_URL.replace("https", "http");
    expect(codesOf({ params: object, url })).toEqual(["URL_SCHEME true"]);
    expect(codesOf({ params: altered, body: encodeForm(params) })).toEqual(["PARAMS_ALTERED true"]);
    expect(codesOf({ params: [], body: object })).toEqual(["PARAMS_MISSING true"]);
    expect(codesOf({ params: object })).toEqual([]);
    const [first] = codesOf({ params: altered, method: "GET", url: `${PUBLIC_URL}?a=b` });
    expect(first).toBe("TOKEN_WRONG false");
  });
});
