/** An app of several processes behind a balancer that chooses one at random for each request. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { request as openRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createChildProcesses } from "./child-processes";
import type { ConsoleProcessSettings, Work } from "./console-process";
import { startEmulator } from "./emulators";
import { startPostgres } from "./postgres";
import { startServer } from "./servers";
import { clientOptions } from "./upstream";
import { ACCOUNT_SID, AUTH_TOKEN, SERVICE_SID } from "./webhook-requests";

/** A build of the app: its name, and what differs from the others. */
interface Build {
  name: string;
  suffix?: string;
  authToken?: string | string[];
}

const WEB_PROCESSES = 3;

/** Passes a request on to a port, with more headers. */
function passOn(port: number, req: IncomingMessage, res: ServerResponse, more = {}): void {
  const { method, headers, url: path } = req;
  const sent = { agent: false, port, host: "127.0.0.1", method, path };
  const passed = openRequest({ ...sent, headers: { ...headers, ...more } }, (response) => {
    res.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(res);
  });
  // The other end has gone.
  passed.on("error", () => res.destroy());
  res.on("close", () => passed.destroy());
  req.pipe(passed);
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts the service, a store, and a first build of the app, without a worker. */
export async function startCluster(first: Build) {
  const postgres = await startPostgres();
  const ids = { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN, serviceSid: SERVICE_SID };
  const emulator = await startEmulator(ids);
  const state = { isServiceUp: true, user: "ada" };
  const servicePort = await startServer((req, res) => {
    if (state.isServiceUp) passOn(Number(new URL(emulator.url).port), req, res);
    else res.writeHead(503).end("down");
  });
  const webs: { child: ChildProcess; port: number }[] = [];
  const balancerPort = await startServer((req, res) => {
    const web = webs[randomInt(webs.length)];
    passOn(web?.port ?? 0, req, res, { "x-user": state.user });
  });
  const origin = `http://127.0.0.1:${balancerPort}`;
  const webhookUrl = `${origin}/webhooks/push`;
  const settings = {
    connection: postgres.url,
    client: clientOptions(`http://127.0.0.1:${servicePort}`),
  };
  const groups: ReturnType<typeof createChildProcesses>[] = [];
  let current = first.name;

  function start(build: string, receiver: ConsoleProcessSettings["receiver"]) {
    const env = { ...process.env, PUSH_BUILD: build };
    const group = createChildProcesses(join(__dirname, "console-process.ts"), { env });
    groups.push(group);
    let port = 0;
    const listen = (message: string) => void (port = Number(message.slice("port ".length)));
    const given = JSON.stringify({ ...settings, receiver });
    return group.start([given], listen).then((child) => ({ child, port }));
  }

  async function close(child: ChildProcess): Promise<void> {
    const exited = once(child, "exit");
    child.send("close");
    await exited;
  }

  const cluster = {
    emulator,
    postgres,
    origin,
    url: `${origin}/admin/push/`,
    webhookUrl,
    state,
    webs,
    /** Starts the processes of a build, one after the other, each in place of an earlier one. */
    async deploy({ name, suffix = "", authToken = AUTH_TOKEN }: Build): Promise<void> {
      current = name;
      for (let index = 0; index < WEB_PROCESSES; index++) {
        const earlier = webs[index];
        webs[index] = await start(name, { authToken, publicUrl: webhookUrl + suffix });
        if (earlier !== undefined) await close(earlier.child);
      }
    },
    /** Starts a worker; `set` tells it how its handlers run from now on. */
    async startWorker(work: Work = {}) {
      const { child } = await start(current, undefined);
      child.send(work);
      return { set: (next: Work) => void child.send(next), stop: () => close(child) };
    },
    async stop(): Promise<void> {
      await Promise.all(groups.map((group) => group.killAll()));
      await postgres.remove();
    },
  };
  await cluster.deploy(first);
  return cluster;
}
