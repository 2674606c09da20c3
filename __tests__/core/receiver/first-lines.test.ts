/**
 * What a person sees after a mistake: the first two lines on the screen of README's receiver, and of
 * `trigger`. PUSH_TEST_TABLE=1 prints them.
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
const before =
  (middleware: express.RequestHandler): Mistake["mount"] =>
  (app, push) =>
    app.use(middleware).use(PATH, push);

const MISTAKES: Record<string, Mistake> = {
  "another token": {
    options: token(OTHER_TOKEN),
    app: [/TOKEN_WRONG: .*authToken is not/, /Compare publicUrl.*authToken/],
  },
  "the token of a resolver that knows no account": {
    options: token(() => undefined),
    app: [/found no token/, /option authToken/],
  },
  "http in place of https": {
    signs: (one) => one.replace("http:", "https:"),
    options: url((one) => one.replace("https:", "http:")),
    app: [/signed https:\S*, and publicUrl is http:/, /Make publicUrl/],
  },
  "a header that no tool knows": {
    options: () => ({ signatureHeader: "X-Own" }),
    app: [/expects the header x-own/, /--signature-header/],
    own: [/signatureHeader/, /--signature-header/],
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
  "a rate limiter in front": {
    mount: before((_req, res) => void res.sendStatus(429)),
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

async function make(mistake: Mistake) {
  const printed: string[] = [];
  const app = express();
  const appUrl = `http://127.0.0.1:${await startServer(app)}${PATH}`;
  const signed = mistake.signs?.(appUrl) ?? appUrl;
  const options = { authToken: AUTH_TOKEN, publicUrl: signed, ...mistake.options?.(signed) };
  const push = pushWebhooks(options);
  push.onRejected((error) => void printed.push(`${error.code}: ${error.message}`));
  push.on("challenge.approved", () => {});
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

it.each(Object.entries(MISTAKES))(
  "%s: the first two lines name cause and fix",
  async (name, mistake) => {
    const lines = await make(mistake);
    if (process.env.PUSH_TEST_TABLE !== undefined) {
      process.stdout.write(`${[name, ...lines.app, "trigger:", ...lines.own].join("\n  ")}\n`);
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
