/** Two processes that are restarted under load, as in examples/deploy: behind its nginx, and without. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import express from "express";
import { pushWebhooks } from "express-push-verification";
import { createChildProcesses } from "../support/child-processes";
import { listBlocks, readText } from "../support/docs";
import { needs } from "../support/needs";
import { findFreePort, untilListening } from "../support/ports";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { startServer, stopServers } from "../support/servers";
import { testSignal, until } from "../support/waiting";
import { AUTH_TOKEN, eventRequest, PUBLIC_URL } from "../support/webhook-requests";

const LANES = 8;
const PATH = "/webhooks/push";
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
const isMissing = spawnSync("nginx", ["-v"], { env }).status !== 0;

const describeWithNginx = isMissing
  ? needs(false, "nginx on the PATH (Debian: apt-get install nginx)").describe
  : describeWithRedis;

const proxies: { nginx: ChildProcess; folder: string }[] = [];

async function startNginx(
  ports: readonly number[],
  { zone = "", directive = "" }: { zone?: string | undefined; directive?: string | undefined } = {},
): Promise<number> {
  const listening = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "push-nginx-"));
  const server = `${zone}\n${readText("examples/deploy/nginx.conf")}`
    .replace("listen 80;", `listen 127.0.0.1:${listening};`)
    .replace("127.0.0.1:3000", `127.0.0.1:${ports[0]}`)
    .replace("127.0.0.1:3001", `127.0.0.1:${ports[1]}`)
    .replace("proxy_cache off;", `proxy_cache off; ${directive}`);
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {} http { access_log off; ${bodies} ${server} }`,
  );
  const args = ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  proxies.push({ nginx: spawn("nginx", args, { env, stdio: "ignore" }), folder });
  await untilListening(listening);
  return listening;
}

async function stopNginx(): Promise<void> {
  for (const { nginx, folder } of proxies.splice(0)) {
    if (nginx.kill("SIGTERM")) await once(nginx, "exit");
    rmSync(folder, { recursive: true, force: true });
  }
}

const apps = createChildProcesses(join(__dirname, "../support/app-process.ts"));
let agent: Agent;

beforeEach(() => void (agent = new Agent({ keepAlive: true, maxSockets: LANES })));
afterEach(() => agent.destroy());
afterAll(async () => {
  await apps.killAll();
  await stopNginx();
  await stopRedis();
});

/** Sends a webhook request; resolves with its status, 0 without a response. */
function deliver(
  port: number,
  uuid: string,
  { body: given, localAddress }: { body?: string; localAddress?: string } = {},
): Promise<number> {
  const { headers, body } = eventRequest("factor.created", { uuid });
  return new Promise((resolve) => {
    const options = { port, agent, method: "POST", path: PATH, headers, localAddress };
    const sent = request(options, (res) => {
      res.resume().on("end", () => resolve(res.statusCode ?? 0));
    });
    sent.on("error", () => resolve(0)).end(given ?? body);
  });
}

function startLoad(port: number) {
  const statuses = new Map<string, number>();
  const stopping = new AbortController();
  const ended = testSignal();
  const counts = Array<number>(LANES).fill(0);
  const lanes = counts.map(async (_, lane) => {
    while (!stopping.signal.aborted && !ended.aborted) {
      const uuid = randomUUID();
      statuses.set(uuid, await deliver(port, uuid));
      counts[lane]!++;
    }
  });
  return {
    async untilMore(count: number): Promise<void> {
      const before = statuses.size;
      await until(() => statuses.size > before + count);
    },
    /** Waits until each lane has sent a request after this, and has its response. */
    async untilOthers(): Promise<void> {
      const before = [...counts];
      await until(() => counts.every((count, lane) => count > before[lane]! + 1));
    },
    /** Ends the load; returns the uuids, once each request got 200. */
    async stop(): Promise<string[]> {
      stopping.abort();
      await Promise.all(lanes);
      expect([...statuses.values()].filter((status) => status !== 200)).toEqual([]);
      return [...statuses.keys()];
    },
  };
}

/** Starts processes on one queue; each closes after a pause, which the parent ends without `pauseMs`. */
async function startApps(pauseMs?: number) {
  const redis = await startRedis();
  const handled = new Set<string>();
  const ports = [await findFreePort(), await findFreePort()] as const;
  const start = (index: 0 | 1) => {
    const args = [ports[index], redis.url, pauseMs ?? ""].map(String);
    return apps.start(args, (uuid) => handled.add(uuid));
  };
  return { ports, start, handled, running: [await start(0), await start(1)] as const };
}

describeWithNginx("the limit of docs/production.md", () => {
  afterEach(stopServers);
  afterEach(stopNginx);

  it("rejects a flood of one address with 429 before it reaches the app", async () => {
    const blocks = listBlocks("docs/production.md", "text");
    const { code: lines = "" } = blocks.find(({ code }) => code.includes("limit_req_zone")) ?? {};
    // A slow machine must not reach the rate within the test.
    const [zone, inLocation] = lines.replace("100r/s", "1r/m").trim().split("\n");
    const push = pushWebhooks({ authToken: AUTH_TOKEN, publicUrl: PUBLIC_URL });
    let rejected = 0;
    push.onRejected(() => void rejected++);
    const app = await startServer(express().use(PATH, push));
    const port = await startNginx([app, app], { zone, directive: inLocation });
    const flood = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () => deliver(port, randomUUID(), { body: "x=1" })),
      );
    const burst = Number(/burst=(\d+)/.exec(lines)?.[1]);
    const statuses = await flood(burst + 51);
    const count = (status: number) => statuses.filter((one) => one === status).length;
    expect(count(403)).toBe(burst + 1);
    expect(count(429)).toBe(50);
    expect(rejected).toBe(burst + 1);
    expect(await deliver(port, randomUUID(), { localAddress: "127.0.0.2" })).toBe(200);
  });

  it("leaves 502 to the proxy when no process listens", async () => {
    const free = await findFreePort();
    expect(await deliver(await startNginx([free, free]), randomUUID())).toBe(502);
  });
});

describeWithNginx("two processes behind nginx", () => {
  it("lose no request while each is restarted and killed", async () => {
    const { ports, start, handled, running } = await startApps(50);
    const load = startLoad(await startNginx(ports));
    const current = [...running];
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      for (const index of [0, 1] as const) {
        await load.untilMore(50);
        const exited = once(current[index]!, "exit");
        current[index]!.kill(signal);
        await exited;
        await load.untilMore(50);
        current[index] = await start(index);
      }
    }
    await load.untilMore(50);
    const uuids = await load.stop();
    expect(uuids.length).toBeGreaterThan(450);
    await until(() => uuids.every((uuid) => handled.has(uuid)));
    console.log(`nginx: ${uuids.length} of ${uuids.length} requests responded 200, all handled`);
  });
});

describeWithRedis("two processes of clients that keep their connections", () => {
  it.each<[string, (app: ChildProcess) => unknown]>([
    ["SIGTERM", (app) => app.kill("SIGTERM")],
    ["SIGINT, which pm2 sends", (app) => app.kill("SIGINT")],
    ["SIGHUP", (app) => app.kill("SIGHUP")],
    ["a message, which pm2 sends on Windows", (app) => app.send("shutdown")],
  ])(
    "lose no request while one closes at %s, once it gets no new connections",
    async (_what, tell) => {
      const { ports, handled, running } = await startApps();
      let [port] = ports as readonly number[];
      // A load balancer decides where a connection leads, once and for all.
      agent.createConnection = () => connect(port!, "127.0.0.1");
      const load = startLoad(ports[0]);
      await load.untilMore(50);
      const exited = once(running[0], "exit");
      tell(running[0]);
      await load.untilMore(50);
      [, port] = ports as readonly number[];
      await load.untilOthers();
      running[0].send("no new connections");
      expect(await exited).toEqual([0, null]);
      await load.untilMore(50);
      const uuids = await load.stop();
      await until(() => [...uuids, "closed"].every((uuid) => handled.has(uuid)));
    },
  );
});
