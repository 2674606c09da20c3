/**
 * An attacker who knows a password has the service sign texts for its other products, and sends them
 * to an app over HTTP: none completes the login, and the genuine approval does.
 */
import { raw, text, urlencoded } from "body-parser";
import type { RequestHandler } from "express";
import type { PushWebhooksOptions } from "express-push-verification";
import { createRandom } from "../support/attacker-texts";
import {
  chooseForeignText,
  chooseForgery,
  signText,
  TOKEN,
  URL_HERE,
  type Target,
} from "../support/foreign-texts";
import { createReceiver } from "../support/receivers";
import { APPS, send, startServer, stopServers } from "../support/servers";

const APPROVAL = {
  account_sid: `AC${"a".repeat(32)}`,
  challenge_sid: `YC${"b".repeat(32)}`,
  entity_identity: "victim",
  factor_sid: `YF${"c".repeat(32)}`,
  service_sid: `VA${"d".repeat(32)}`,
  type: "challenge.approved",
};
const verify = (req: object, _res: unknown, rawBody: Buffer) =>
  void Object.assign(req, { rawBody });
const type = () => true;
const PARSERS: [what: string, parser?: RequestHandler][] = [
  ["no parser"],
  ["urlencoded", urlencoded({ extended: false, type }) as RequestHandler],
  [
    "urlencoded that keeps the bytes",
    urlencoded({ extended: true, type, verify }) as RequestHandler,
  ],
  ["raw", raw({ type }) as RequestHandler],
  ["text", text({ type }) as RequestHandler],
];
const SETTINGS: [what: string, options: Partial<PushWebhooksOptions>][] = [
  ["POST", { methods: ["POST"] }],
  ["POST and GET", { methods: ["POST", "GET"] }],
  ["declared names", { methods: ["POST", "GET"], extraParameters: ["zone", "user_type", "exp"] }],
];
const TEXTS = 10;
/** The paths of receivers of one token; the URLs of the others begin with that of the first. */
const NESTED = ["", "/eu", "-backup", "/eu/west"];

const genuine = (url: string) => {
  const pairs = Object.entries({ ...APPROVAL, uuid: `of-${url.length}` });
  return {
    method: "POST",
    path: new URL(url).pathname,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-service-signature": signText(url + pairs.flat().join("")),
    },
    body: new URLSearchParams(pairs).toString(),
  };
};

afterEach(stopServers);

describe.each(APPS)("%s", (_version, create) => {
  it.each(
    PARSERS.flatMap(([what, parser]) =>
      SETTINGS.map(([how, options]) => ({ what, parser, how, options })),
    ),
  )("completes no login behind $what with $how", async ({ parser, options }) => {
    const random = createRandom(31);
    const receivers = NESTED.map((path) => {
      const publicUrl = URL_HERE + path;
      return { url: publicUrl, ...createReceiver({ authToken: TOKEN, publicUrl, ...options }) };
    });
    const app = create();
    if (parser !== undefined) app.use(parser);
    // The longest paths first, and one receiver at the root.
    for (const { url, push } of receivers.toReversed()) {
      app.use(url === URL_HERE ? "/" : new URL(url).pathname, push);
    }
    const listEvents = () => receivers.flatMap(({ events }) => events);
    const port = await startServer(app);
    let approvals = 0;
    const { challenge_sid: challengeSid, entity_identity: entityIdentity } = APPROVAL;
    const waits = receivers.map(async ({ push }) => {
      await push.waitForChallenge({ challengeSid, entityIdentity });
      approvals++;
    });

    const statuses = new Set<number>();
    for (const { url } of receivers) {
      const { pathname: path } = new URL(url);
      const sendHere = async (request: Parameters<typeof send>[1]) =>
        void statuses.add((await send(port, request)).status);
      const target: Target = { url, declared: options.extraParameters ?? [], approval: APPROVAL };
      for (let run = 0; run < TEXTS; run++) {
        const forgery = chooseForgery(chooseForeignText(random, target).text, random, target);
        if (forgery === undefined) continue;
        const sent = forgery as Parameters<typeof send>[1] & { url: string };
        await sendHere({ ...sent, path: sent.method === "GET" ? sent.url : path });
      }
      // An approval of a receiver with a longer URL is none of this one.
      for (const other of receivers)
        if (other.url !== url) await sendHere({ ...genuine(other.url), path });
    }
    expect(statuses.has(200)).toBe(false);
    expect(statuses.has(400)).toBe(true);
    expect([approvals, listEvents()]).toEqual([0, []]);

    for (const { url } of receivers)
      expect(await send(port, genuine(url))).toHaveProperty("status", 200);
    await Promise.all(waits);
    expect(listEvents()).toHaveLength(NESTED.length);
    for (const { push } of receivers) await push.close();
  });
});
