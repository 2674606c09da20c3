/** The parts of the kit that have a few lines, each in a table. */
import { createPublicKey, verify } from "node:crypto";
import timers from "node:timers/promises";
import { pauseAfter } from "../../lib/kit/backoff";
import { brand } from "../../lib/kit/brand";
import { Callbacks, createListener } from "../../lib/kit/callbacks";
import { CLOSE_RULES, createRunningRequests, settleWithin } from "../../lib/kit/closing";
import { copyText } from "../../lib/kit/copied-text";
import { Es256Key } from "../../lib/kit/es256-key";
import { isFormType } from "../../lib/kit/form-type";
import { groupBy } from "../../lib/kit/group-by";
import { createPseudonym, digest, hashText } from "../../lib/kit/hash";
import { describeOutage } from "../../lib/kit/health";
import { keepNewest } from "../../lib/kit/keep-newest";
import { isForOtherPage, isLocalHost, readLimited } from "../../lib/kit/local-server";
import { adaptConsole, createLogger } from "../../lib/kit/logger";
import { MinuteCounters } from "../../lib/kit/minute-counters";
import { DURATION_MS, HEADER_NAME, HOSTNAMES, LOGGER, sidRule } from "../../lib/kit/option-rules";
import { listFlatPairs, pairHeaders } from "../../lib/kit/pairs";
import { andThen, isPending } from "../../lib/kit/pending";
import { warnOnce } from "../../lib/kit/process-warning";
import { within } from "../../lib/kit/response-timeout";
import { callSafely } from "../../lib/kit/safe-call";
import { isSid, sidPattern } from "../../lib/kit/sid";
import { StacklessError } from "../../lib/kit/stackless-error";
import { addMember, cutText, decodeSafely, encodeForm, encodeSafely } from "../../lib/kit/text";
import { escapeControls, parseJson, toAsciiJson } from "../../lib/kit/text";
import { describeError } from "../../lib/kit/thrown-value";
import { hideUserInfo, isHttpUrl, parseUrl } from "../../lib/kit/url";
import { words } from "../support/attacker-texts";
import { never, nextTurn } from "../support/waiting";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
afterEach(() => void jest.useRealTimers());

const LONG = "é".repeat(600);
const local = (host: string, ...allowed: string[]) => isLocalHost({ host }, allowed);
const foreign = (headers: object) => isForOtherPage({ host: "a.test", ...headers });
const SID = `AC${"0aF".repeat(11).slice(1)}`;

it.each<[what: string, found: unknown, expected: unknown]>([
  ["copyText", [copyText("aé"), copyText(LONG)], ["aé", LONG]],
  [
    "cutText",
    [cutText("abc", 3), cutText("abcd", 3), cutText("ab\u{1F600}", 3)],
    ["abc", "abc…", "ab…"],
  ],
  ["cutText by default", cutText("x".repeat(1_025)), `${"x".repeat(1_024)}…`],
  [
    "escapeControls",
    escapeControls("a\0\u202E\n\u2028\ud800"),
    String.raw`a\u0000\u202e\u000a\u2028\ud800`,
  ],
  ["toAsciiJson", toAsciiJson({ a: "é\u007f" }), '{"a":"\\u00e9\\u007f"}'],
  ["addMember", addMember('{"a":1}', "b", "c"), '{"a":1,"b":"c"}'],
  ["hideUserInfo", hideUserInfo("https://a:b@c.test/@d"), "https://***@c.test/@d"],
  ["hideUserInfo of no URL", hideUserInfo("https://a:b/\n@d.test:x"), "https://***@d.test:x"],
  ["decodeSafely", ["%20", "%zz"].map(decodeSafely), [" ", "%zz"]],
  [
    "encodeSafely",
    [encodeSafely("a/"), encodeSafely("a/", encodeURI), encodeSafely("\ud800")],
    ["a%2F", "a/", "\ud800"],
  ],
  [
    "encodeForm",
    encodeForm([
      ["a b", "ö"],
      ["c", ""],
    ]),
    "a+b=%C3%B6&c=",
  ],
  ["parseJson", ['{"a":1}', ""].map(parseJson), [{ a: 1 }, undefined]],
  ["parseUrl", [parseUrl("/b", "http://a")?.href, parseUrl("b")], ["http://a/b", undefined]],
  [
    "describeError",
    ["", "c"].map((message) =>
      describeError(new AggregateError([Error("a"), Error("b")], message)),
    ),
    ["a; b", "c"],
  ],
  [
    "groupBy",
    [...groupBy(["a", "b", "ab"], ({ length }) => length)],
    [
      [1, ["a", "b"]],
      [2, ["ab"]],
    ],
  ],
  [
    "pairHeaders",
    pairHeaders(["a", "b", "c", "d"]),
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ],
  ["andThen", andThen(1, String), "1"],
  [
    "isPending",
    [nextTurn(), Promise.resolve(), {}, null, 5].map((one: unknown) => isPending(one)),
    [true, true, false, false, false],
  ],
  [
    "digest",
    [digest("s", "a", "sha1"), digest("s", "a", "sha256"), hashText("a")],
    [
      "9kUJmuedeRrYUGQeZkrMLCeYfJ0=",
      "lllFCJcYjQVPnCAxA0LgQsVWl3N7J5i1n48c733aBnQ=",
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    ],
  ],
  [
    "isHttpUrl",
    ["HTTP://a", "https://", "ftp://a", "//a", "http://a/ b", "http://a/\ud800", 5].map(isHttpUrl),
    [true, ...Array(6).fill(false)],
  ],
  [
    "isSid",
    [SID, `${SID}0`, SID.toLowerCase(), 5].map((one) => isSid("AC", one)),
    [true, false, false, false],
  ],
  ["sidPattern", [SID, `${SID}0`].map((one) => sidPattern("AC").test(one)), [true, false]],
  [
    "isFormType",
    [
      "application/x-www-urlencoded",
      " Application/X-WWW-Form-Urlencoded; a=b",
      "application/x-www-urlencodedx",
      "text/plain",
    ].map(isFormType),
    [true, true, false, false],
  ],
  [
    "listFlatPairs",
    [{ a: ["b", "c"], d: "e" }, {}, [], { a: "b", c: 1 }, null].map(listFlatPairs),
    [
      [
        ["a", "b"],
        ["a", "c"],
        ["d", "e"],
      ],
      ...Array(4).fill(undefined),
    ],
  ],
  [
    "isLocalHost",
    words(
      "localhost a.localhost:1 [::1]:2 10.0.0.7 Ok.test ok.test.x alocalhost a@localhost local/host",
    )
      .concat("")
      .map((one) => local(one, "OK.test")),
    [...Array(5).fill(true), ...Array(5).fill(false)],
  ],
  [
    "isForOtherPage",
    [
      {},
      { origin: "http://a.test" },
      { origin: "null" },
      { origin: "https://a.test" },
      { origin: "null", "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "same-site" },
    ].map(foreign),
    [false, false, true, true, false, false, true],
  ],
  [
    "pauseAfter",
    [1, 2, 3, 9].map((failures) => pauseAfter(failures, { firstMs: 100, longestMs: 300 })),
    [100, 200, 300, 300],
  ],
  ["createPseudonym", createPseudonym("s", "a"), "96594508"],
  [
    "describeOutage",
    [
      Object.assign(new Error(""), { code: "ECONNREFUSED" }),
      new RangeError(""),
      Object.assign(new Error("down"), { code: "X" }),
    ].map((error) => describeOutage({ error, since: new Date(5) })),
    ["ECONNREFUSED", "RangeError", "down"].map((reason) => ({
      status: "degraded",
      code: "STORE_UNAVAILABLE",
      reason,
      since: new Date(5),
    })),
  ],
])("%s", (_what, found, expected) => expect(found).toEqual(expected));

it("andThen awaits a promise", async () =>
  expect(await andThen(Promise.resolve(1), String)).toBe("1"));

it("pauseAfter takes up to the jitter away", () => {
  const pauses = { firstMs: 100, longestMs: 200, jitter: 0.5 };
  const all = Array.from({ length: 200 }, () => pauseAfter(1, pauses));
  expect(new Set(all).size).toBeGreaterThan(10);
  expect(all.every((pause) => pause >= 50 && pause <= 100)).toBe(true);
});

it("keepNewest drops the oldest", () => {
  const kept = new Map<string, number>();
  for (const [index, key] of ["a", "b", "a", "c"].entries()) keepNewest(kept, key, index, 2);
  expect([...kept]).toEqual([
    ["a", 2],
    ["c", 3],
  ]);
});

it("readLimited reads up to its limit", async () => {
  const read = (...sizes: number[]) =>
    readLimited(
      (async function* () {
        for (const size of sizes) yield Buffer.alloc(size);
      })(),
      4,
    );
  expect((await read(2, 2))?.length).toBe(4);
  expect(await read(2, 3)).toBeUndefined();
});

it("MinuteCounters bound their names and their minutes", () => {
  jest.useFakeTimers({ now: 90_000 });
  const counters = new MinuteCounters<string>(2, 120_000, "rest");
  for (const name of ["a", "b", "c", "a"]) counters.add(name);
  const first = ["a", "b", "rest"].map((name, index) => ({
    minuteMs: 60_000,
    name,
    count: index ? 1 : 2,
  }));
  expect(counters.list()).toEqual(first);
  expect(counters.take()).toEqual(first);
  counters.add("d", 3);
  expect(counters.take()).toEqual([{ minuteMs: 60_000, name: "rest", count: 3 }]);
  counters.add("a");
  for (const now of [120_000, 180_000]) {
    jest.setSystemTime(now);
    counters.add("e");
  }
  expect(counters.list(180_000).map(({ minuteMs }) => minuteMs)).toEqual([180_000]);
  expect(counters.list().map(({ minuteMs }) => minuteMs)).toEqual([120_000, 180_000]);
});

it("within and settleWithin leave no timer", async () => {
  jest.useFakeTimers();
  expect(await within("at once", 5)).toBe("at once");
  expect(await within(Promise.resolve("later"), 5)).toBe("later");
  const slept = jest.spyOn(timers, "setTimeout");
  await settleWithin(Promise.resolve(), {});
  await settleWithin(never(), { deadlineMs: 1 });
  expect(slept.mock.calls.map(([delayMs]) => delayMs)).toEqual([10_000, 1]);
  expect(jest.getTimerCount()).toBe(0);
  const late = expect(within(never(), 4.6, "No word")).rejects.toThrow("No word within 5 ms.");
  await jest.advanceTimersByTimeAsync(5);
  await late;
  expect(jest.getTimerCount()).toBe(0);
});

it("createRunningRequests awaits the last one", async () => {
  const running = createRunningRequests();
  await running.awaitNone();
  running.begin();
  running.begin();
  const ended = jest.fn();
  const waiting = running.awaitNone().then(ended);
  running.end();
  await Promise.resolve();
  expect(ended).toHaveBeenCalledTimes(0);
  running.end();
  await waiting;
});

it("Callbacks hand on what a listener or a timer throws", async () => {
  const thrown: unknown[] = [];
  const callbacks = new Callbacks((error) => thrown.push(error));
  const fail = (value?: unknown) => {
    throw value ?? "none";
  };
  const listeners: ((value: unknown) => void)[] = [];
  callbacks
    .on({ on: (_event, listener) => listeners.push(listener as never) }, "a", fail)
    .on({}, "b", fail);
  listeners[0]?.("event");
  await new Promise<void>((resolve) => {
    callbacks.setTimeout(
      () => (callbacks.setImmediate(() => (resolve(), fail("next"))), fail("timer")),
      1,
    );
  });
  expect(thrown).toEqual(["event", "timer", "next"]);
});

it("warnOnce warns once for each code and owner", () => {
  const owner = {};
  warnOnce("A", "Text.", owner, () => "detail");
  for (const [code, of] of [
    ["A", owner],
    ["B", owner],
    ["A", {}],
    ["P", undefined],
    ["P", undefined],
  ] as const)
    warnOnce(code, "Text.", of);
  expect(warnings.listCodes()).toEqual(["A", "B", "A", "P"]);
  const type = "PushWebhooksWarning";
  const text = "Text. More: npx push-webhooks why A";
  expect(warnings.list()[0]).toEqual([text, { type, code: "A", detail: "detail" }]);
});

it.each<[name: string, call: () => unknown]>([
  [
    "RangeError",
    () => {
      throw new RangeError("hush");
    },
  ],
  ["a value that is not an Error", () => Promise.reject("hush")],
])("callSafely warns once of %s", async (name, call) => {
  const owners = [{}, {}];
  for (const owner of [...owners, ...owners]) callSafely(owner, call);
  await nextTurn();
  const message = expect.stringContaining(`threw ${name}.`);
  expect(warnings.listMessages()).toEqual([message, message]);
  expect(warnings.listMessages().join()).not.toContain("hush");
});

it("createListener reports a failed response and destroys its connection", async () => {
  const reported = jest.fn();
  const destroyed = jest.fn();
  const fail = async () => {
    throw "failed";
  };
  const res = {
    destroy() {
      throw "replaced";
    },
  };
  createListener(fail, reported)({ socket: { destroy: destroyed } } as never, res as never);
  await nextTurn();
  expect(reported.mock.calls).toEqual([["failed"]]);
  expect(destroyed).toHaveBeenCalledTimes(1);
});

it("a StacklessError has no frames, also where Error is frozen", () => {
  const before = Error.stackTraceLimit;
  expect(new StacklessError("text").stack).toBe("Error: text");
  expect(Error.stackTraceLimit).toBe(before);
  const limit = { value: before, configurable: true };
  Object.defineProperty(Error, "stackTraceLimit", { ...limit, writable: false });
  expect(() => new StacklessError("text")).not.toThrow();
  Object.defineProperty(Error, "stackTraceLimit", { ...limit, writable: true });
});

it("instanceof of a branded class finds the errors of a copy", () => {
  const copy = () => {
    class Branded extends Error {}
    brand(Branded, "Branded");
    return Branded;
  };
  const [One, Other] = [copy(), copy()];
  class Sub extends One {}
  const found = [new One(), new Other(), new Sub(), new Error("x"), null];
  expect(found.map((one) => one instanceof One)).toEqual([true, true, true, false, false]);
  expect(found.map((one) => one instanceof Sub)).toEqual([false, false, true, false, false]);
  expect([new One().name, Object.keys(new One()), Object.keys(One.prototype)]).toEqual([
    "Branded",
    [],
    [],
  ]);
});

it("an Es256Key signs", () => {
  const key = new Es256Key();
  const options = {
    key: Buffer.from(key.publicKey, "base64"),
    format: "der",
    type: "spki",
  } as const;
  const publicKey = createPublicKey(options);
  const check = (text: string, signature: Buffer, more = {}) =>
    verify("sha256", Buffer.from(text), { key: publicKey, ...more }, signature);
  expect(check("text", Buffer.from(key.signText("text"), "base64"))).toBe(true);
  const token = key.signToken({ name: "ö?>" });
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  const [header, members, signature] = token
    .split(".")
    .map((part) => Buffer.from(part, "base64url"));
  expect([header, members].map(String).map(parseJson)).toEqual([
    { typ: "JWT", alg: "ES256" },
    { name: "ö?>" },
  ]);
  expect(check(token.replace(/\.[^.]*$/, ""), signature!, { dsaEncoding: "ieee-p1363" })).toBe(
    true,
  );
});

it("createLogger and adaptConsole keep each level", () => {
  const levels = ["debug", "info", "warn", "error"] as const;
  const log = jest.fn();
  const logger = createLogger(log);
  for (const level of levels) logger[level]({ a: 1 }, "text");
  expect(log.mock.calls).toEqual(levels.map((level) => [level, { a: 1 }, "text"]));
  expect(adaptConsole(logger)).toBe(logger);
  const error = jest.spyOn(console, "error").mockReturnValue();
  adaptConsole(console).error({ a: 1 }, "text");
  expect(error.mock.calls).toEqual([["text", { a: 1 }]]);
  error.mockRestore();
});

it.each([
  [HEADER_NAME, ["X-A", "~"], ["X A", "", "X-A:", 5]],
  [HOSTNAMES, [["a.b-c"], []], [["a", "b:1"], ["http://a"], "a"]],
  [LOGGER, [console], [{ ...console, error: 5 }]],
  [DURATION_MS, [1, 2 ** 31 - 1], [0, 1.5, 2 ** 31]],
  [CLOSE_RULES.deadlineMs, [0], [-1]],
  [sidRule("VA"), [SID.replace("AC", "VA")], [SID]],
])("the rule %j accepts %j only", ({ accepts }, right, wrong) => {
  expect(right.map(accepts)).toEqual(right.map(() => true));
  expect(wrong.map(accepts)).toEqual(wrong.map(() => false));
});

it("a deadline of work that fails leaves no timer", async () => {
  const countTimers = () =>
    process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
  const before = countTimers();
  const failed = settleWithin(Promise.reject(new Error("failed")), { deadlineMs: 60_000 });
  await expect(failed).rejects.toThrow("failed");
  expect(countTimers()).toBe(before);
});
