/** The tables of docs/troubleshooting.md: each status and what one sees, in Express 4 and 5. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import express, { type RequestHandler } from "express";
import {
  pushWebhooks,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import { readText } from "../support/docs";
import { APPS, send, startServer, stopServers } from "../support/servers";
import { useWarnings } from "../support/warnings";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const FORM = { contentType: "application/x-www-form-urlencoded" };
const good = eventRequest("challenge.approved", {}, FORM);
const warnings = useWarnings();

beforeEach(() => void jest.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => jest.restoreAllMocks());
afterEach(stopServers);

/** What produces a row of the table: middlewares before the receiver, its options, the request. */
interface Setup {
  before?: RequestHandler;
  options?: Partial<PushWebhooksOptions>;
  request?: ReturnType<typeof eventRequest>;
  mount?: string;
  act?: (push: PushWebhooks) => unknown;
}

const respond =
  (status: number): RequestHandler =>
  (_req, res) =>
    void res.sendStatus(status);
const signed = (overrides: Record<string, string | undefined>) =>
  eventRequest("challenge.approved", overrides, FORM);
const withHeaders = (headers: Record<string, string>) => ({
  ...good,
  headers: { ...good.headers, ...headers },
});
const fail = () => Promise.reject(new Error("down"));
const store = { claim: fail, complete: fail, release: fail };
const elsewhere = (file: string) => file;

/** Of each row: its status, the code or "no line", and what produces it, or the test that does. */
const SETUPS: [status: string, code: string, setup: Setup | string][] = [
  ...["301", "302", "307", "308"].map((status): [string, string, Setup] => [
    status,
    "no line",
    { before: (_req, res) => res.redirect(Number(status), "/login") },
  ]),
  ["400", "no line", { before: express.json({ type: () => true }) }],
  ["400", "PAYLOAD_INVALID", { request: signed({ challenge_sid: undefined }) }],
  ["400", "PAYLOAD_AMBIGUOUS", { request: signed({ version: "2" }) }],
  ["400", "BODY_MALFORMED", { request: { ...good, body: "%zz" } }],
  ["401", "no line", { before: respond(401) }],
  ["403", "no line", { before: respond(403) }],
  ["403", "SIGNATURE_MISSING", { options: { signatureHeader: "x-other-signature" } }],
  ["403", "SIGNATURE_MISMATCH", { options: { publicUrl: `${PUBLIC_URL}/` } }],
  ["403", "ACCOUNT_NOT_ALLOWED", { options: { allowedAccountSids: [`AC${"0".repeat(32)}`] } }],
  ["403", "NOT_CONFIRMED", { options: { confirm: () => false } }],
  ["404", "no line", { mount: "/another/path" }],
  ["405", "METHOD_NOT_ALLOWED", { request: { ...good, method: "GET", body: undefined } }],
  [
    "405",
    "MOUNTED_WITHOUT_PATH",
    { mount: "/", request: { ...good, method: "GET", path: "/shop", body: undefined } },
  ],
  ["408", "BODY_TIMEOUT", elsewhere("core/receiver/node-request.test.ts")],
  ["413", "no line", { before: express.urlencoded({ extended: false, limit: 100 }) }],
  ["413", "BODY_TOO_LARGE", { options: { limitBytes: 100 } }],
  [
    "415",
    "CONTENT_TYPE_UNSUPPORTED",
    { request: withHeaders({ "content-type": "application/json" }) },
  ],
  ["429", "no line", { before: respond(429) }],
  ["500", "no line", { before: (_req, _res, next) => next(new Error("no session store")) }],
  [
    "500",
    "BODY_CONSUMED",
    { before: express.urlencoded({ extended: true }), request: signed({ "tags[a]": "1" }) },
  ],
  [
    "500",
    "HANDLER_FAILED",
    { act: (push) => push.onAny(() => Promise.reject(new Error("no database"))) },
  ],
  [
    "500",
    "HANDLER_TIMEOUT",
    { options: { handlerTimeoutMs: 1 }, act: (push) => push.onAny(() => new Promise(() => {})) },
  ],
  ["502", "no line", elsewhere("release/nginx.test.ts")],
  ["503", "CLOSING", { act: (push) => push.close() }],
  ["503", "OVERLOADED", elsewhere("core/delivery/retry-request.test.ts")],
  [
    "503",
    "STORE_UNAVAILABLE",
    { options: { dedupe: store, deadlineMs: 600, handlerTimeoutMs: 1 } },
  ],
  ["503", "TOKEN_UNAVAILABLE", elsewhere("core/receiver/auth-tokens.test.ts")],
  [
    "503",
    "CONFIRM_UNAVAILABLE",
    { options: { confirm: fail, deadlineMs: 600, handlerTimeoutMs: 1 } },
  ],
];

/** The rows of a table after a comment, as their cells. */
function readRows(name: string): string[][] {
  const [, text = ""] = readText("docs/troubleshooting.md").split(`<!-- ${name} -->\n\n`);
  return text
    .slice(0, text.indexOf("\n\n"))
    .split("\n")
    .slice(2)
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "").trim()));
}

it("has exactly the statuses and codes of the table", () => {
  const written = readRows("statuses").flatMap(([statuses = "", seen = ""]) => {
    const codes = seen.startsWith("no line")
      ? ["no line"]
      : (seen.match(/[A-Z]+_\w+|CLOSING|OVERLOADED/g) ?? []);
    return statuses.split(", ").flatMap((status) => codes.map((code) => `${status} ${code}`));
  });
  expect(written.toSorted()).toEqual(
    SETUPS.map(([status, code]) => `${status} ${code}`).toSorted(),
  );
});

const produced = SETUPS.filter((row): row is [string, string, Setup] => typeof row[2] !== "string");

describe.each(APPS)("%s", (_name, makeApp) => {
  async function tryReceiver({ before, options, request = good, mount = "/push", act }: Setup) {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL, ...options });
    const codes: string[] = [];
    push.onRejected(({ code }) => void codes.push(code));
    push.onError(({ code }) => void codes.push(code));
    await act?.(push);
    const app = makeApp();
    if (before !== undefined) app.use(before);
    app.use(mount, push);
    const { status } = await send(await startServer(app), request);
    return { status: String(status), codes };
  }

  it.each(produced)("%s, %s", async (status, code, setup) => {
    const seen = await tryReceiver(setup);
    expect(seen.status).toBe(status);
    if (code === "no line") expect(seen.codes).toEqual([]);
    else expect([...seen.codes, ...warnings.listCodes()]).toContain(code);
  });

  it("responds behind each body parser as the table says", async () => {
    const parsers: [string, RequestHandler[], plain: string, nested: string][] = [
      ["express.json()", [express.json()], "200", "200"],
      [
        "express.urlencoded({ extended: false })",
        [express.urlencoded({ extended: false })],
        "200",
        "200",
      ],
      ["express.raw", [express.raw({ type: "*/*" }), express.text({ type: "*/*" })], "200", "200"],
      [
        "express.urlencoded({ extended: true })",
        [express.urlencoded({ extended: true })],
        "200",
        "500 BODY_CONSUMED",
      ],
      [
        "express.json({ type",
        [express.json({ type: "*/*" }), express.json({ type: () => true })],
        "400",
        "400",
      ],
      ["express.urlencoded({ limit", [express.urlencoded({ limit: "100b" })], "413", "413"],
    ];
    const rows = readRows("parsers");
    expect(rows).toHaveLength(parsers.length);
    for (const [index, [start, befores, ...expected]] of parsers.entries()) {
      const [written = "", result = ""] = rows[index] ?? [];
      expect(written.replaceAll("`", "")).toMatch(
        new RegExp(`^${start.replaceAll(/[(){}]/g, "\\$&")}`),
      );
      for (const before of befores) {
        const seen = [{}, { request: signed({ "tags[a]": "1" }) }].map(async (more) => {
          const { status, codes } = await tryReceiver({ before, ...more });
          return [status, ...new Set(codes)].join(" ");
        });
        expect(await Promise.all(seen)).toEqual(expected);
      }
      for (const one of new Set(expected)) expect(result.replaceAll("`", "")).toContain(one);
    }
  });
});

it.each(SETUPS.filter((row): row is [string, string, string] => typeof row[2] === "string"))(
  "%s, %s is produced by %s",
  (status, code, file) => {
    const text = readFileSync(join(__dirname, "..", file), "utf8");
    expect(text).toContain(code === "no line" ? status : code);
  },
);
