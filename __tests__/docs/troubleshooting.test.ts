/** The tables of docs/troubleshooting.md: each status and what one sees, in Express 4 and 5. */
import express, { type RequestHandler } from "express";
import { pushWebhooks } from "express-push-verification";
import { STATUS_BY_CODE } from "../../lib/core/errors/codes";
import { readText } from "../support/docs";
import { APPS, send, startServer, stopServers } from "../support/servers";
import { useWarnings } from "../support/warnings";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const FORM = { contentType: "application/x-www-form-urlencoded" };
const good = eventRequest("challenge.approved", {}, FORM);

useWarnings();
beforeEach(() => void jest.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => jest.restoreAllMocks());
afterEach(stopServers);

/** What produces a row of the table: middlewares before the receiver, the request, its path. */
interface Setup {
  before?: RequestHandler;
  request?: ReturnType<typeof eventRequest>;
  mount?: string;
}

const respond =
  (status: number): RequestHandler =>
  (_req, res) =>
    void res.sendStatus(status);

/** What responds without a line of the receiver. */
const SETUPS: [status: string, setup: Setup][] = [
  ...["301", "302", "307", "308"].map((status): [string, Setup] => [
    status,
    { before: (_req, res) => res.redirect(Number(status), "/login") },
  ]),
  ["400", { before: express.json({ type: () => true }) }],
  ["401", { before: respond(401) }],
  ["403", { before: respond(403) }],
  ["404", { mount: "/another/path" }],
  ["413", { before: express.urlencoded({ extended: false, limit: 100 }) }],
  ["429", { before: respond(429) }],
  ["500", { before: (_req, _res, next) => next(new Error("no session store")) }],
];

/** Of an attacker, of a defect, and of a wait. */
const NOT_IN_TABLE = new Set([
  "SIGNATURE_MALFORMED",
  "INTERNAL_ERROR",
  "CHALLENGE_TIMEOUT",
  "CHALLENGE_SID_INVALID",
  "ENTITY_MISMATCH",
]);

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
  const codes = Object.entries(STATUS_BY_CODE).filter(([code]) => !NOT_IN_TABLE.has(code));
  const rows = [
    ...SETUPS.map(([status]) => `${status} no line`),
    ...codes.map(([code, status]) => `${status} ${code}`),
    // docs/recipes.test.ts and release/nginx.test.ts have these.
    "405 MOUNTED_WITHOUT_PATH",
    "502 no line",
  ];
  expect(written.toSorted()).toEqual(rows.toSorted());
});

describe.each(APPS)("%s", (_name, makeApp) => {
  async function tryReceiver({ before, request = good, mount = "/push" }: Setup) {
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
    const codes: string[] = [];
    push.onRejected(({ code }) => void codes.push(code));
    const app = makeApp();
    if (before !== undefined) app.use(before);
    app.use(mount, push);
    const { status } = await send(await startServer(app), request);
    return { status: String(status), codes };
  }

  it.each(SETUPS)("%s without a line", async (status, setup) => {
    expect(await tryReceiver(setup)).toEqual({ status, codes: [] });
  });

  it("responds behind each body parser as the table says", async () => {
    const parsers: [string, RequestHandler[], plain: string, nested?: string][] = [
      ["express.json()", [express.json()], "200"],
      ["express.urlencoded({ extended: false })", [express.urlencoded({ extended: false })], "200"],
      ["express.raw", [express.raw({ type: "*/*" }), express.text({ type: "*/*" })], "200"],
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
      ],
      ["express.urlencoded({ limit", [express.urlencoded({ limit: "100b" })], "413"],
    ];
    const rows = readRows("parsers");
    expect(rows).toHaveLength(parsers.length);
    for (const [index, [start, befores, plain, nested = plain]] of parsers.entries()) {
      const [written = "", result = ""] = rows[index] ?? [];
      expect(written.replaceAll("`", "")).toMatch(
        new RegExp(`^${start.replaceAll(/[(){}]/g, "\\$&")}`),
      );
      for (const before of befores) {
        const seen = [
          {},
          { request: eventRequest("challenge.approved", { "tags[a]": "1" }, FORM) },
        ].map(async (more) => {
          const { status, codes } = await tryReceiver({ before, ...more });
          return [status, ...new Set(codes)].join(" ");
        });
        expect(await Promise.all(seen)).toEqual([plain, nested]);
      }
      for (const one of [plain, nested]) expect(result.replaceAll("`", "")).toContain(one);
    }
  });
});
