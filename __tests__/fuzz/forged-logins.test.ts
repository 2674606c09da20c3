/**
 * An attacker who knows a password has the service sign texts for its other products, and sends them
 * to an app over HTTP: none completes the login, and the genuine approval does.
 */
import { raw, text, urlencoded, type RequestHandler } from "express";
import type { PushWebhooksOptions } from "express-push-verification";
import { createChoose } from "../support/attacker-texts";
import { chooseForeignText, chooseForgery, TOKEN, URL_HERE } from "../support/foreign-texts";
import { createReceiver } from "../support/receivers";
import { APPS, send, startServer, stopServers } from "../support/servers";
import { eventRequest, type TestRequest } from "../support/webhook-requests";

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
const PARSERS: [what: string, ...parsers: RequestHandler[]][] = [
  ["no parser"],
  ["urlencoded", urlencoded({ extended: false, type })],
  ["urlencoded that keeps the bytes", urlencoded({ extended: true, type, verify })],
  ["raw", raw({ type })],
  ["text", text({ type })],
];
const SETTINGS: [how: string, options: Partial<PushWebhooksOptions>][] = [
  ["POST", { methods: ["POST"] }],
  ["POST and GET", {}],
  ["declared names", { extraParameters: ["zone", "user_type", "exp"] }],
];
const TEXTS = 10;
/** The paths of receivers of one token; the URLs of the others begin with that of the first. */
const NESTED = ["", "/eu", "-backup", "/eu/west"];

const genuine = (publicUrl: string) => {
  const signing = { version: "v1", authToken: TOKEN, publicUrl } as const;
  return eventRequest(
    "challenge.approved",
    { ...APPROVAL, uuid: `of-${publicUrl.length}` },
    signing,
  );
};

afterEach(stopServers);

describe.each(APPS)("%s", (_version, create) => {
  it.each(
    PARSERS.flatMap(([what, ...parsers]) =>
      SETTINGS.map(([how, options]) => ({ what, parsers, how, options })),
    ),
  )("completes no login behind $what with $how", async ({ parsers, options }) => {
    const choose = createChoose(31);
    const receivers = NESTED.map((path) =>
      createReceiver({ authToken: TOKEN, publicUrl: URL_HERE + path, ...options }),
    );
    const app = create();
    for (const parser of parsers) app.use(parser);
    // The longest paths first, and one receiver at the root.
    for (const { push } of receivers.toReversed()) {
      app.use(push.publicUrl === URL_HERE ? "/" : new URL(push.publicUrl).pathname, push);
    }
    const listEvents = () => receivers.flatMap(({ events }) => events);
    const port = await startServer(app);
    const { challenge_sid: challengeSid, entity_identity: entityIdentity } = APPROVAL;
    const approvals: object[] = [];
    const waits = receivers.map(async ({ push }) => {
      approvals.push(await push.waitForChallenge({ challengeSid, entityIdentity }));
    });

    const statuses = new Set<number>();
    for (const { push } of receivers) {
      const { publicUrl: url } = push;
      const { pathname: path } = new URL(url);
      const target = { url, declared: options.extraParameters ?? [], approval: APPROVAL };
      // An approval of a receiver with a longer URL is none of this one.
      const sent: TestRequest[] = [];
      for (const { push: other } of receivers)
        if (other !== push) sent.push({ ...genuine(other.publicUrl), path });
      for (let run = 0; run < TEXTS; run++) {
        const forgery = chooseForgery(chooseForeignText(choose, target), choose, target);
        if (forgery === undefined) continue;
        sent.push({ ...forgery, path: forgery.method === "GET" ? forgery.url : path });
      }
      for (const request of sent) statuses.add((await send(port, request)).status);
    }
    expect(statuses.has(200)).toBe(false);
    expect(statuses.has(400)).toBe(true);
    expect(approvals).toEqual([]);
    expect(listEvents()).toEqual([]);

    for (const { push } of receivers)
      expect(await send(port, genuine(push.publicUrl))).toHaveProperty("status", 200);
    await Promise.all(waits);
    expect(listEvents()).toHaveLength(NESTED.length);
    for (const { push } of receivers) await push.close();
  });
});
