/**
 * Durable mode with one command: a real redis-server, a web process, two workers and a login that
 * waits at the web process. `npm run durable`
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signedRequest } from "express-push-verification/testing";

const authToken = randomBytes(16).toString("hex");
const publicUrl = "https://app.example.com/webhooks/push";

void main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "push-durable-"));
  const redisPort = await findFreePort();
  const durable = ["--appendonly", "yes", "--appendfsync", "always"];
  const redisArgs = ["--port", String(redisPort), "--dir", folder, "--save", "", ...durable];
  const redis = spawn("redis-server", redisArgs, { stdio: "ignore" });
  redis.once("error", () => {
    console.error("There is no redis-server on the PATH: install Redis 7 or newer first.");
    process.exit(1);
  });
  const env = {
    ...process.env,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    PUSH_AUTH_TOKEN: authToken,
    PUSH_PUBLIC_URL: publicUrl,
  };
  const web = start("web.ts", env);
  const workers = [start("worker.ts", env), start("worker.ts", env)];
  const port = await findPort(web);

  const challenge_sid = `YC${randomBytes(16).toString("hex")}`;
  const login = fetch(`http://127.0.0.1:${port}/login/${challenge_sid}/user-1`);
  for (let count = 0; count < 20; count++) {
    console.log(`${await deliver(port, {})} for a factor`);
  }
  console.log(`${await deliver(port, { challenge_sid })} for the approval`);
  console.log(`the waiting login goes on: ${await (await login).text()}`);
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  console.log(metrics.match(/^push_webhooks_total.*$/gm)?.join("\n"));

  const children = [web, ...workers];
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(children.map((child) => once(child, "exit")));
  redis.kill();
  await once(redis, "exit");
  rmSync(folder, { recursive: true, force: true });
}

function start(file: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, ["--import", "tsx", join(__dirname, file)], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.pipe(process.stdout);
  return child;
}

async function findPort(web: ChildProcess): Promise<string> {
  for await (const chunk of web.stdout ?? []) {
    const [, port] = /listening on (\d+)/.exec(String(chunk)) ?? [];
    if (port !== undefined) return port;
  }
  throw new Error("The web process ended.");
}

async function deliver(port: string, { challenge_sid }: { challenge_sid?: string }) {
  const settings = { authToken, publicUrl };
  const { method, path, headers, body } =
    challenge_sid === undefined
      ? signedRequest(settings, "factor.created", { uuid: randomUUID() })
      : signedRequest(settings, "challenge.approved", { challenge_sid, entity_identity: "user-1" });
  const url = `http://127.0.0.1:${port}${path}`;
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
  return answer.status;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
