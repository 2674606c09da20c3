/**
 * Two processes of an app share a queue behind the nginx of examples/deploy, in front of the service as
 * the public one is: logins are rehearsed with one link broken in turn, and their webhooks are lost or late.
 */
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { RehearsalReport } from "express-push-verification/admin";
import { AS_PUBLIC_SERVICE } from "express-push-verification/emulator";
import { createChildProcesses } from "../support/child-processes";
import { callApi, startEmulator, startTarget, stopEmulators } from "../support/emulators";
import type { LoginProcessSettings } from "../support/login-process";
import { describeWithNginx, startNginx, stopNginx } from "../support/nginx";
import { findFreePort } from "../support/ports";
import { startRedis, stopRedis } from "../support/redis";
import { failedLinks } from "../support/rehearsals";
import { runCommand } from "../support/terminals";
import { createGate, until } from "../support/waiting";

const apps = createChildProcesses(join(__dirname, "../support/login-process.ts"));

const USER = "ada-lovelace";

interface Setup {
  /** The processes, 0 and 1, that nginx sends webhook requests to. @default both in turn */
  to?: [0 | 1, 0 | 1];
  /** Added to the location of the receiver in nginx. */
  directive?: string;
  /** What the URL of the Webhook has behind publicUrl. */
  suffix?: string;
  hasWorker?: boolean;
  /** Runs before nginx gets a webhook request, which is lost where it resolves with false. */
  beforeProxy?: () => Promise<boolean>;
}

function forward(req: IncomingMessage, res: ServerResponse, port: number): void {
  const { method, url: path, headers } = req;
  req.pipe(
    request({ agent: false, port, method, path, headers }, (response) => {
      res.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(res);
    }),
  );
}

async function start({ to = [0, 1], directive, suffix = "", hasWorker, beforeProxy }: Setup) {
  const emulator = await startEmulator(AS_PUBLIC_SERVICE);
  const ports = [await findFreePort(), await findFreePort()] as const;
  const proxy = await startNginx(
    to.map((index) => ports[index]),
    directive === undefined ? {} : { directive },
  );
  let origin = `http://127.0.0.1:${proxy}`;
  if (beforeProxy !== undefined) {
    origin = await startTarget((req, res) => {
      void beforeProxy().then((isPassed) => (isPassed ? forward(req, res, proxy) : res.destroy()));
    });
  }
  const publicUrl = `${origin}/webhooks/push`;
  const { url, accountSid, serviceSid, authToken } = emulator;
  let asked = 0;
  const verifyUrl = await startTarget((req, res) => {
    if (/Challenges/.test(req.url ?? "")) res.on("finish", () => asked++);
    forward(req, res, Number(new URL(url).port));
  });
  const client = { accountUrl: url, verifyUrl, accountSid, serviceSid, password: authToken };
  const settings: LoginProcessSettings = {
    receiver: { authToken, publicUrl },
    client,
    connection: (await startRedis()).url,
    ...(hasWorker !== undefined && { hasWorker }),
  };
  emulator.createWebhook({
    webhook_url: publicUrl + suffix,
    event_types: ["challenge.approved", "challenge.denied"],
  });
  const handled: string[] = [];
  const onMessage = (message: string) =>
    void (message.startsWith("token") && handled.push(message));
  await Promise.all(
    ports.map((port) => apps.start([JSON.stringify({ ...settings, port })], onMessage)),
  );
  return { emulator, ports, handled, countAsked: () => asked };
}

async function startLogin(beforeProxy: () => Promise<boolean>) {
  const { emulator, ports, handled, countAsked } = await start({ beforeProxy });
  const phone = emulator.device();
  const { sid: factor_sid } = phone.register({ entity_identity: USER });
  const { sid } = emulator.createChallenge({ factor_sid });
  const waitAt = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/wait/${USER}/${sid}`)).text();
  return {
    approve: () => void phone.approve(sid),
    wait: () => Promise.all(ports.map(waitAt)),
    untilHandled: () => until(() => handled.length === 1),
    /** Each wait has asked the service once, which has responded that nothing was decided. */
    untilAsked: () => until(() => countAsked() >= 2),
  };
}

type Login = Awaited<ReturnType<typeof startLogin>>;
type App = Login & { network: { lose(): void; pass(): void } };

afterEach(async () => {
  await apps.killAll();
  await stopNginx();
  await stopEmulators();
  await stopRedis();
});

describeWithNginx("two processes behind nginx, of which one rehearses a login", () => {
  const DROPPED = 'proxy_set_header X-Twilio-Signature "";';
  it.each<[what: string, setup: Setup, failed: string[], reason?: RegExp]>([
    ["no link", {}, []],
    ["no link, and its own request", { to: [0, 0] }, []],
    ["no link, and the request of the other process", { to: [1, 1] }, []],
    ["a slash", { suffix: "/" }, ["webhook"], /publicUrl is/],
    ["the header", { to: [0, 0], directive: DROPPED }, ["signature"], /SIGNATURE_MISSING/],
    ["the header, at the other one", { to: [1, 1], directive: DROPPED }, ["delivery"], /another/],
    ["no worker", { to: [0, 0], hasWorker: false }, ["handled"], /No worker/],
    ["no worker, at the other one", { to: [1, 1], hasWorker: false }, ["handled"], /No worker/],
  ])("%s broken: no other row fails than its own", async (_what, setup, failed, reason = /./) => {
    const { emulator, ports } = await start(setup);
    const adminUrl = `http://127.0.0.1:${ports[0]}/admin`;
    const { code, stdout } = await runCommand(["rehearse", "--json", "--admin-url", adminUrl]);
    const report = JSON.parse(stdout) as RehearsalReport;
    expect(code).toBe(failed.length === 0 ? 0 : 1);
    expect(failedLinks(report)).toEqual(failed);
    const shown = report.rows.find(({ result }) => result === "failed");
    expect(shown?.reason ?? "none").toMatch(reason);
    const user = `/v2/Services/${emulator.serviceSid}/Entities/${report.identity}`;
    expect((await callApi(emulator, "GET", user)).status).toBe(404);
  });
});

type Wait = () => Promise<string[]>;

describeWithNginx("a login that waits at both processes behind nginx", () => {
  it.each<[what: string, source: string, run: (app: App, wait: Wait) => Promise<string[]>]>([
    [
      "is lost",
      "service",
      async ({ approve, network }, wait) => {
        network.lose();
        approve();
        return wait();
      },
    ],
    [
      "comes after the service's word",
      "service",
      async ({ approve, network, untilHandled }, wait) => {
        approve();
        const outcomes = await wait();
        network.pass();
        await untilHandled();
        expect(await wait()).toEqual(outcomes);
        return outcomes;
      },
    ],
    [
      "comes before the wait",
      "webhook",
      async ({ approve, network, untilHandled }, wait) => {
        network.pass();
        approve();
        await untilHandled();
        return wait();
      },
    ],
    [
      "comes during the wait",
      "webhook",
      async ({ approve, network, untilAsked }, wait) => {
        network.pass();
        const waiting = wait();
        await untilAsked();
        approve();
        return waiting;
      },
    ],
  ])("whose webhook %s ends once by the word of the %s", async (_what, source, run) => {
    const gate = createGate();
    let isLost = false;
    const app = await startLogin(async () => {
      if (!isLost) await gate.opened;
      return !isLost;
    });
    const network = { lose: () => void (isLost = true), pass: gate.open };
    const outcome = `challenge.approved ${source}`;
    expect(await run({ ...app, network }, app.wait)).toEqual([outcome, outcome]);
    gate.open();
  });
});
