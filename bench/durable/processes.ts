/** The processes of the durable benches: a Redis, web processes and workers, which may be killed. */
import type { QueuedEvent } from "../../lib/core/delivery/event-queue";
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PushEvent } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";

export const settings = { authToken: "bench-token", publicUrl: "https://app.example.com/push" };
export const QUEUE_NAME = "bench";

/** A process that is started again after it was killed. */
export interface Revivable {
  kill(signal?: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  child: ChildProcess;
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A redis-server that loses nothing, on a port of its own. */
export async function startRedis() {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "push-bench-"));
  const args = ["--port", String(port), "--dir", folder, "--save", "", "--appendonly", "yes"];
  const redis = await revivable(async () => {
    const child = spawn("redis-server", [...args, "--appendfsync", "always"], { stdio: "ignore" });
    while (!(await canConnect(port))) await sleep(5);
    return child;
  });
  const remove = async () => {
    await redis.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return Object.assign(redis, { url: `redis://127.0.0.1:${port}`, remove });
}

/** One of the files beside this one, as a process of its own; ready when it says so. */
export function startProcess(file: string, env: Record<string, string>): Promise<Revivable> {
  return revivable(async () => {
    const child = fork(join(__dirname, file), {
      execArgv: ["--import", "tsx"],
      env: { ...process.env, ...env },
    });
    await Promise.race([once(child, "message"), once(child, "exit")]);
    return child;
  });
}

async function revivable(open: () => Promise<ChildProcess>): Promise<Revivable> {
  const one: Revivable = {
    child: await open(),
    async kill(signal = "SIGKILL") {
      if (one.child.exitCode !== null || one.child.signalCode !== null) return;
      const exited = once(one.child, "exit");
      one.child.kill(signal);
      one.child.kill("SIGCONT");
      await exited;
    },
    async start() {
      one.child = await open();
    },
  };
  return one;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** An event as a receiver passes it to the queue. */
export function queuedEvent(event: PushEvent): QueuedEvent {
  const { account_sid: accountSid, uuid } = event;
  const identity = { authenticatedAccount: "", accountSid, uuid, contentHash: "0" };
  return { ...identity, event, authTokenIndex: 0, publicUrlIndex: 0, receiver: undefined };
}

/** Sends one webhook request; 0 without a response. */
export async function deliver(
  port: number,
  type: "factor.created" | "challenge.approved",
  overrides: object,
): Promise<number> {
  const { method, path, headers, body } = signedRequest(settings, type, overrides);
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(15_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

export function percentile(values: readonly number[], share: number, digits = 1): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(
    digits,
  );
}

/** The time in milliseconds, fine enough and the same in every process of this machine. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
