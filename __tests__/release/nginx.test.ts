/** The nginx of examples/deploy before two processes that are restarted and killed under load. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { randomUUID } from "node:crypto";
import { createChildProcesses } from "../support/child-processes";
import { readText } from "../support/docs";
import { findFreePort, untilListening } from "../support/ports";
import { describeWithRedis, startRedis, stopRedis } from "../support/redis";
import { until } from "../support/waiting";
import { eventRequest } from "../support/webhook-requests";

const LANES = 8;
const PATH = "/webhooks/push";
const binary = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
  .map((folder) => join(folder, "nginx"))
  .find((file) => existsSync(file));
if (binary === undefined && process.env.CI === "true") {
  throw new Error("The tests need nginx: put it on the PATH.");
}
const describeWithNginx = binary === undefined ? describe.skip : describeWithRedis;

const apps = createChildProcesses(join(__dirname, "../support/app-process.ts"));
const agent = new Agent({ keepAlive: true, maxSockets: LANES });
const folder = mkdtempSync(join(tmpdir(), "push-nginx-"));
let nginx: ChildProcess | undefined;

afterAll(async () => {
  agent.destroy();
  apps.killAll();
  if (nginx?.kill("SIGTERM") === true) await once(nginx, "exit");
  await stopRedis();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts nginx with the file of the example, and resolves with its port. */
async function startNginx(ports: readonly number[]): Promise<number> {
  const port = await findFreePort();
  const server = readText("examples/deploy/nginx.conf")
    .replace("listen 80;", `listen 127.0.0.1:${port};`)
    .replace("127.0.0.1:3000", `127.0.0.1:${ports[0]}`)
    .replace("127.0.0.1:3001", `127.0.0.1:${ports[1]}`);
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join("\n");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {} http { access_log off; ${bodies} ${server} }`,
  );
  nginx = spawn(binary ?? "", ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {
    stdio: "ignore",
  });
  await untilListening(port);
  return port;
}

/** Sends a webhook request; resolves with its status, 0 without a response. */
function deliver(port: number, uuid: string): Promise<number> {
  const { headers, body } = eventRequest("factor.created", { uuid });
  return new Promise((resolve) => {
    const sent = request({ port, agent, method: "POST", path: PATH, headers }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode ?? 0));
    });
    sent.on("error", () => resolve(0)).end(body);
  });
}

describeWithNginx("two processes behind nginx", () => {
  it("lose no request while each is restarted and killed", async () => {
    const redis = await startRedis();
    const handled = new Set<string>();
    const ports = [await findFreePort(), await findFreePort()];
    const start = (index: number) =>
      apps.start([String(ports[index]), redis.url], (uuid) => handled.add(uuid));
    const running = [await start(0), await start(1)];
    const port = await startNginx(ports);

    const statuses = new Map<string, number>();
    let count = 0;
    const stopping = new AbortController();
    const sendInTurn = async () => {
      while (!stopping.signal.aborted) {
        const uuid = randomUUID();
        statuses.set(uuid, await deliver(port, uuid));
        count++;
      }
    };
    const lanes = Array.from({ length: LANES }, sendInTurn);
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      for (const index of [0, 1]) {
        const before = count;
        await until(() => count > before + 50);
        const child = running[index]!;
        const exited = once(child, "exit");
        child.kill(signal);
        await exited;
        await until(() => count > before + 100);
        running[index] = await start(index);
      }
    }
    const last = count;
    await until(() => count > last + 50);
    stopping.abort();
    await Promise.all(lanes);

    const other = [...statuses.values()].filter((status) => status !== 200);
    expect(other).toEqual([]);
    expect(statuses.size).toBeGreaterThan(450);
    await until(() => [...statuses.keys()].every((uuid) => handled.has(uuid)));
    console.log(`nginx: ${statuses.size} of ${statuses.size} requests responded 200, all handled`);
  }, 120_000);
});
