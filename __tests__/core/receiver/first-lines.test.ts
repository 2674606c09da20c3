/**
 * What a person sees after a mistake: the first two lines on the screen of README's receiver, of one
 * without a listener, of one with a logger, and of `trigger`. PUSH_TEST_TABLE=1 prints them.
 */
import express, { type Express } from "express";
import {
  pushWebhooks,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import { startServer, stopServers } from "../../support/servers";
import { runCommand } from "../../support/terminals";
import { useWarnings } from "../../support/warnings";
import { AUTH_TOKEN } from "../../support/webhook-requests";

const PATH = "/webhooks/push";
const OTHER_TOKEN = "0c0ffee0c0ffee0c0ffee0c0ffee0c0f";

/** A mistake: what the app does, what `trigger` is called with, and what the lines must have. */
interface Mistake {
  /** Options of the receiver, of the URL that trigger signs. */
  options?: (url: string) => Partial<PushWebhooksOptions>;
  mount?: ((app: Express, push: PushWebhooks) => unknown) | undefined;
  type?: string;
  args?: string;
  /** What trigger signs, of the URL of the app. */
  signs?: (url: string) => string;
  /** The cause and the fix in the lines of the app; undefined where the receiver gets no request. */
  app: [cause: RegExp, fix: RegExp] | undefined;
  /** The same of trigger; by default to compare both sides. */
  own?: [cause: RegExp, fix: RegExp];
}

const token = (authToken: PushWebhooksOptions["authToken"]) => () => ({ authToken });
const url = (change: (url: string) => string) => (signed: string) => ({
  publicUrl: change(signed),
});
const COMPARE = [/publicUrl, authToken and signatureHeader/, /--url, PUSH_AUTH_TOKEN/];
const both = (signed: string, given: string) =>
  new RegExp(`signed \\S*${signed}, and publicUrl is \\S*${given}\\. `);
const before =
  (middleware: express.RequestHandler): Mistake["mount"] =>
  (app, push) =>
    app.use(middleware).use(PATH, push);
const respond = (status: number) => before((_req, res) => void res.sendStatus(status));

const MISTAKES: Record<string, Mistake> = {
  "another token": {
    options: token(OTHER_TOKEN),
    app: [/TOKEN_WRONG: .*authToken is not/, /Compare publicUrl.*authToken/],
  },
  "a token that was rotated": {
    options: token([OTHER_TOKEN, "1".repeat(32)]),
    app: [/TOKEN_WRONG/, /after a rotation/],
  },
  "the token of a resolver that knows no account": {
    options: token(() => undefined),
    app: [/found no token/, /option authToken/],
  },
  "a slash too many": {
    options: url((one) => `${one}/`),
    app: [both("push", "push/"), /Copy webhook_url/],
  },
  "a slash too few": {
    signs: (one) => `${one}/`,
    options: url((one) => one.replace(/\/$/, "")),
    app: [both("push/", "push"), /Copy webhook_url/],
  },
  "http in place of https": {
    signs: (one) => one.replace("http:", "https:"),
    options: url((one) => one.replace("https:", "http:")),
    app: [/signed https:\S*, and publicUrl is http:/, /Make publicUrl/],
  },
  "https in place of http": {
    options: url((one) => one.replace("http:", "https:")),
    app: [/signed http:\S*, and publicUrl is https:/, /Make publicUrl/],
  },
  "the path without its prefix": {
    options: url((one) => one.replace("/webhooks", "")),
    app: [both("/webhooks/push", "/push"), /whole webhook_url/],
  },
  "another path": {
    options: url((one) => one.replace("push", "hook")),
    app: [both("push", "hook"), /whole webhook_url/],
  },
  "another host": {
    options: url((one) => one.replace("127.0.0.1", "localhost")),
    app: [/signed http:\/\/127\S*, and publicUrl is http:\/\/localhost/, /Make publicUrl/],
  },
  "another port": {
    options: url((one) => one.replace(/:\d+/, ":8081")),
    app: [/signed \S+, and publicUrl is \S+:8081/, /Use the port/],
  },
  "no query": {
    signs: (one) => `${one}?a=1`,
    options: url((one) => one.replace("?a=1", "")),
    app: [both("push\\?a=1", "push"), /Pass the whole URL/],
  },
  "a query too many": {
    options: url((one) => `${one}?a=1`),
    app: [both("push", "push\\?a=1"), /Make publicUrl/],
  },
  "another signature header": {
    options: () => ({ signatureHeader: "X-Twilio-Signature" }),
    app: [/expects the header x-twilio-signature, and the sender/, /--signature-header/],
    own: [/expects the header X-Twilio/, /pass --signature-header X-Twilio/],
  },
  "a header that no tool knows": {
    options: () => ({ signatureHeader: "X-Own" }),
    app: [/expects the header x-own/, /--signature-header/],
    own: [/signatureHeader/, /--signature-header/],
  },
  "two signature headers": {
    args: "--header X-Twilio-Signature:x",
    app: [/2 signature headers/, /Find the proxy/],
  },
  "a signature that was cut": {
    args: "--header X-Service-Signature:x",
    app: [/28 characters of base64/, /as it arrives/],
  },
  GET: {
    args: "--method GET",
    app: [/methods allows POST only/, /Add "GET"/],
    own: [/does not accept GET/, /option methods/],
  },
  "a content type that is no form": {
    args: "--content-type application/json",
    app: undefined,
    own: [/form in UTF-8/, /application\/x-www-form-urlencoded/],
  },
  "a parameter that is malformed": {
    args: "--set account_sid=x",
    app: undefined,
    own: [/account_sid/, /AC and 32/],
  },
  "an undeclared parameter that may be another": {
    args: "--set event_id=1",
    app: [/event_id is not declared/, /extraParameters, or set confirm/],
    own: [/second reading/, /log of the app/],
  },
  "an account that is not allowed": {
    options: () => ({ allowedAccountSids: [`AC${"0".repeat(32)}`] }),
    app: [/account is not/, /allowedAccountSids/],
    own: [/signature is right/, /allowedAccountSids/],
  },
  "confirm of an event that was triggered": {
    options: () => ({ confirm: () => false, confirmTypes: ["factor.created"] }),
    app: [/confirm/, /service/],
    own: [/signature is right/, /confirm says no/],
  },
  "a handler that throws": {
    mount: (app, push) =>
      app.use(
        PATH,
        push.on("factor.created", () => {
          throw new Error("no database");
        }),
      ),
    app: [/handler of this event failed/, /cause/],
    own: [/a handler failed/, /log of the app/],
  },
  "a stream that another middleware has read": {
    mount: before((req, _res, next) => void req.resume().on("end", next)),
    app: [/body/, /mount/i],
    own: [/another middleware has read the body/, /log of the app/],
  },
  "a middleware that changes values": {
    mount: before((req, res, next) =>
      express.urlencoded({ extended: false, type: () => true })(req, res, () => {
        Object.assign(req.body as object, { factor_friendly_name: "x" });
        next();
      }),
    ),
    app: [/BODY_PARSED: .*middleware parsed/, /before express\.urlencoded/],
  },
  "no handler": {
    type: "challenge.denied",
    app: [/No handler ran/, /push\.on/],
    own: [/with confirm/, /rehearse/],
  },
  "another mount path": {
    mount: (app, push) => app.use("/hooks", push),
    app: undefined,
    own: [/No receiver is mounted/, /at this path/],
  },
  "CSRF protection in front": {
    mount: respond(403),
    app: undefined,
    own: [/CSRF/, /Mount the receiver before/],
  },
  "a login in front": {
    mount: before((_req, res) => res.redirect("/login")),
    app: undefined,
    own: [/redirects to \/login/, /mount the receiver before/],
  },
  "a rate limiter in front": {
    mount: respond(429),
    app: undefined,
    own: [/rate limiter/, /Mount the receiver before/],
  },
  "a parser of JSON for every type in front": {
    mount: before(express.json({ type: () => true, strict: false })),
    app: undefined,
    own: [/its error handler/, /Mount the receiver before/],
  },
};

const warnings = useWarnings();
afterEach(stopServers);

type Print = (line: string) => void;

/** The receivers: each prints in its own way, and process warnings go to the same screen. */
const COLUMNS: Record<string, (options: PushWebhooksOptions, print: Print) => PushWebhooks> = {
  "README's listing": (options, print) =>
    pushWebhooks(options).onRejected((error) => print(`${error.code}: ${error.message}`)),
  "no listener": (options) => pushWebhooks(options),
  logger: (options, print) => {
    const at = (fields: object, message: string) => print(`${message}\n${JSON.stringify(fields)}`);
    return pushWebhooks({
      ...options,
      logger: { debug() {}, info() {}, warn: at, error: at },
    });
  },
};

async function make(mistake: Mistake, create: (typeof COLUMNS)[string]) {
  const printed: string[] = [];
  const app = express();
  const appUrl = `http://127.0.0.1:${await startServer(app)}${PATH}`;
  const signed = mistake.signs?.(appUrl) ?? appUrl;
  const options = { authToken: AUTH_TOKEN, publicUrl: signed, ...mistake.options?.(signed) };
  const push = create(options, (line) => void printed.push(line));
  push.on("challenge.approved", () => {});
  push.on(["factor.verified", "factor.deleted"], () => {});
  if (mistake.type === undefined) push.on("factor.created", () => {});
  const { mount = () => app.use(PATH, push), type = "factor.created", args = "" } = mistake;
  mount(app, push);
  app.use(((_error, _req, res, _next) => void res.sendStatus(400)) as express.ErrorRequestHandler);
  const line = [
    "trigger",
    type,
    "--url",
    signed,
    "--to",
    // As it arrives: with the path and the query that are signed.
    appUrl.replace(PATH, "") + signed.replace(/^https?:\/\/[^/]+/, ""),
    ...args.split(" ").filter(Boolean),
  ];
  const { stderr } = await runCommand(line, { PUSH_AUTH_TOKEN: AUTH_TOKEN });
  const warned = warnings
    .list()
    .map(([message, { code, detail = "" }]) => `[${code}] ${message}\n${detail}`);
  return { app: firstTwo([...printed, ...warned].join("\n")), own: firstTwo(stderr) };
}

const firstTwo = (text: string) => text.split("\n").filter(Boolean).slice(0, 2);

const rows = Object.entries(MISTAKES).flatMap(([name, mistake]) =>
  Object.entries(COLUMNS).map(([column, create]) => [name, column, mistake, create] as const),
);

it.each(rows)(
  "%s, of the receiver with %s: the first two lines name cause and fix",
  async (...row) => {
    const [name, column, mistake, create] = row;
    const lines = await make(mistake, create);
    if (process.env.PUSH_TEST_TABLE !== undefined) {
      process.stdout.write(
        `${[`${name} | ${column}`, ...lines.app, "trigger:", ...lines.own].join("\n  ")}\n`,
      );
    }
    const { app, own = COMPARE } = mistake;
    if (app === undefined) expect(lines.app).toEqual([]);
    for (const [printed, patterns = []] of [
      [lines.app, app],
      [lines.own, own],
    ] as const) {
      const text = printed.join("\n");
      for (const pattern of patterns) expect(text).toMatch(pattern);
      expect(text).not.toMatch(/or the reverse/);
      expect(text).not.toContain(AUTH_TOKEN);
    }
  },
);
