/** The parts of the kit that have a few lines, each in a table. */
import { pauseAfter } from "../../lib/kit/backoff";
import { Callbacks } from "../../lib/kit/callbacks";
import { createRunningRequests, settleWithin } from "../../lib/kit/closing";
import { copyText } from "../../lib/kit/copied-text";
import { isFormType } from "../../lib/kit/form-type";
import { createPseudonym } from "../../lib/kit/hash";
import { describeOutage } from "../../lib/kit/health";
import { keepNewest } from "../../lib/kit/keep-newest";
import { isForOtherPage, isLocalHost, readLimited } from "../../lib/kit/local-server";
import { MinuteCounters } from "../../lib/kit/minute-counters";
import { listFlatPairs } from "../../lib/kit/pairs";
import { warnOnce } from "../../lib/kit/process-warning";
import { within } from "../../lib/kit/response-timeout";
import { isSid } from "../../lib/kit/sid";
import { addMember, cutText, escapeControls, toAsciiJson } from "../../lib/kit/text";
import { hideUserInfo, isHttpUrl } from "../../lib/kit/url";
import { never } from "../support/waiting";
import { useWarnings } from "../support/warnings";

const warnings = useWarnings();
afterEach(() => void jest.useRealTimers());

const LONG = "é".repeat(2_000);
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
  ["escapeControls", escapeControls("a\u0000\u202E\n"), "a\\u0000\\u202e\\u000a"],
  ["toAsciiJson", toAsciiJson({ a: "é\u007f" }), '{"a":"\\u00e9\\u007f"}'],
  ["addMember", addMember('{"a":1}', "b", "c"), '{"a":1,"b":"c"}'],
  ["hideUserInfo", hideUserInfo("https://a:b@c.test/@d"), "https://***@c.test/@d"],
  ["hideUserInfo of no URL", hideUserInfo("https://a:b/c@d.test:x"), "https://***@d.test:x"],
  [
    "isHttpUrl",
    ["HTTP://a", "https://", "ftp://a", "//a", "http://a\ud800", 5].map(isHttpUrl),
    [true, ...Array(5).fill(false)],
  ],
  [
    "isSid",
    [SID, `${SID}0`, SID.toLowerCase(), 5].map((one) => isSid("AC", one)),
    [true, false, false, false],
  ],
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
    [{ a: ["b", "c"], d: "e" }, {}, [], { a: 1 }, null].map(listFlatPairs),
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
    ["localhost", "a.localhost:1", "[::1]:2", "10.0.0.7", "Ok.test", "ok.test.x", "", "a b"].map(
      (one) => local(one, "OK.test"),
    ),
    [true, true, true, true, true, false, false, false],
  ],
  [
    "isForOtherPage",
    [
      {},
      { origin: "http://a.test" },
      { origin: "null" },
      { origin: "null", "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "same-site" },
    ].map(foreign),
    [false, false, true, false, false, true],
  ],
  [
    "pauseAfter",
    [1, 2, 3, 9].map((failures) => pauseAfter(failures, { firstMs: 100, longestMs: 300 })),
    [100, 200, 300, 300],
  ],
  [
    "createPseudonym",
    [createPseudonym("s", "a") === createPseudonym("t", "a"), createPseudonym("s", "a")],
    [false, expect.stringMatching(/^[0-9a-f]{8}$/)],
  ],
  [
    "describeOutage",
    describeOutage({
      error: Object.assign(new Error(""), { code: "ECONNREFUSED" }),
      since: new Date(5),
    }),
    { status: "degraded", code: "STORE_UNAVAILABLE", reason: "ECONNREFUSED", since: new Date(5) },
  ],
])("%s", (_what, found, expected) => expect(found).toEqual(expected));

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
  expect(counters.list(120_001).map(({ minuteMs }) => minuteMs)).toEqual([180_000]);
  expect(counters.list().map(({ minuteMs }) => minuteMs)).toEqual([120_000, 180_000]);
});

it("within and settleWithin leave no timer", async () => {
  jest.useFakeTimers();
  expect(await within("at once", 5)).toBe("at once");
  expect(await within(Promise.resolve("later"), 5)).toBe("later");
  await settleWithin(Promise.resolve(), {});
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
  for (const [code, of] of [
    ["A", owner],
    ["A", owner],
    ["B", owner],
    ["A", {}],
  ] as const) {
    warnOnce(code, "Text.", of);
  }
  expect(warnings.listCodes()).toEqual(["A", "B", "A"]);
});
