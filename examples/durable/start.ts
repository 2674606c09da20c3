/**
 * Durable mode with one command: a web process, two workers and a login that waits at the web
 * process. They share a redis-server; where there is none, a SQLite file. `npm run durable`
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signedRequest } from "express-push-verification/testing";

const authToken = randomBytes(16).toString("hex");
const publicUrl = "https://app.example.com/webhooks/push";

void main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "push-durable-"));
  const children: ChildProcess[] = [];
  const stopped = new AbortController();
  const stopAll = () => stopped.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"]) process.once(signal, stopAll);
  // The program that reads the output has ended.
  process.stdout.on("error", stopAll);
  try {
    await Promise.race([run(folder, children, stopped.signal), once(stopped.signal, "abort")]);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    for (const child of children.toReversed()) await stop(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(folder: string, children: ChildProcess[], signal: AbortSignal): Promise<void> {
  const redisPort = await findFreePort();
  // After a stop, `main` has ended the children: a process that starts now would keep running.
  signal.throwIfAborted();
  const redis = startRedis(folder, redisPort);
  if (redis !== undefined) children.push(redis);
  else if (!isBuiltin("node:sqlite")) {
    throw new Error(
      "There is no redis-server on the PATH. Install Redis 7 or newer (apt-get install redis-server, brew install redis, or https://redis.io/download), or run this with Node.js 22.13 or newer, which has SQLite.",
    );
  }
  console.log(redis === undefined ? "the queue is a SQLite file" : "the queue is in Redis");
  const env = {
    ...process.env,
    ...(redis === undefined
      ? { SQLITE_FILE: join(folder, "push.db") }
      : { REDIS_URL: `redis://127.0.0.1:${redisPort}` }),
    PUSH_AUTH_TOKEN: authToken,
    PUSH_PUBLIC_URL: publicUrl,
  };
  const web = start("web.ts", env);
  children.push(start("worker.ts", env), start("worker.ts", env), web);
  const port = await findPort(web);

  const challenge_sid = `YC${randomBytes(16).toString("hex")}`;
  const login = fetch(`http://127.0.0.1:${port}/login/${challenge_sid}/user-1`);
  const [outcome] = await Promise.all([login, deliverAll(port, challenge_sid)]);
  console.log(`the waiting login goes on: ${await outcome.text()}`);
  // The workers may still start, and run an event again that failed.
  let metrics: string;
  do {
    await new Promise((resolve) => setTimeout(resolve, 100));
    metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } while (/^push_webhooks_queue_(waiting|active|delayed) [1-9]/m.test(metrics));
  console.log(metrics.match(/^push_webhooks_total.*$/gm)?.join("\n"));
}

async function deliverAll(port: string, challenge_sid: string): Promise<void> {
  for (let count = 0; count < 20; count++) {
    console.log(`${await deliver(port, {})} for a factor`);
  }
  console.log(`${await deliver(port, { challenge_sid })} for the approval`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** Starts a redis-server that loses nothing; undefined when there is none on the PATH. */
function startRedis(folder: string, port: number): ChildProcess | undefined {
  const durable = ["--appendonly", "yes", "--appendfsync", "always"];
  const args = ["--port", String(port), "--dir", folder, "--save", "", ...durable];
  const child = spawn("redis-server", args, { stdio: "ignore" });
  // Without redis-server there is no pid, and an "error" event, which throws without a listener.
  child.once("error", () => {});
  return child.pid === undefined ? undefined : child;
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
