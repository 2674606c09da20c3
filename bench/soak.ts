/**
 * A million requests through one process, good, bad, duplicate and oversized: its heap and handles.
 *
 * node --expose-gc --import tsx bench/soak.ts [requests]
 */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { pushWebhooks } from "express-push-verification";
import { signedRequest, type SignedRequest } from "express-push-verification/testing";

const [, , requests = "1000000"] = process.argv;
const settings = { authToken: "soak-token", publicUrl: "https://app.example.com/push" };
const CONNECTIONS = 32;

const sidOf = (index: number) => `YC${index.toString(16).padStart(32, "0")}`;

async function main(): Promise<void> {
  const push = pushWebhooks(settings);
  push.onRejected(() => {});
  push.onAny(() => {});
  const server = createServer((req, res) => push(req, res)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  function send({ method, path, headers, body }: SignedRequest): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request({ port, method, path, headers, agent }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      sent.on("error", reject).end(body);
    });
  }
  const large = "x=".padEnd(70_000, "y");
  async function sendSome(index: number): Promise<void> {
    const good = signedRequest(settings, "challenge.approved", { challenge_sid: sidOf(index) });
    const kind = index % 10;
    const expected = kind === 7 ? 403 : kind === 8 ? 413 : kind === 9 ? 405 : 200;
    const changed = { 7: { body: `${good.body}&a=b` }, 8: { body: large }, 9: { method: "PUT" } }[
      kind
    ];
    const sent = { ...good, ...changed } as SignedRequest;
    const statuses = [await send(sent).catch(() => 413)];
    if (kind === 6) statuses.push(await send(sent));
    for (const status of statuses) {
      if (status !== expected) throw new Error(`${status} instead of ${expected} for kind ${kind}`);
    }
  }
  const progress = { sent: 0 };
  async function sendUpTo(count: number): Promise<void> {
    while (progress.sent < count) await sendSome(progress.sent++);
  }
  for (let part = 0; part <= 10; part++) {
    const count = Math.round((Number(requests) * part) / 10);
    await Promise.all(Array.from({ length: CONNECTIONS }, () => sendUpTo(count)));
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    const handles = process.getActiveResourcesInfo().length;
    console.log(
      `${count} requests: heap ${(heapUsed / 1e6).toFixed(1)} MB, RSS ${(rss / 1e6).toFixed(0)} MB, ${handles} handles`,
    );
  }
  agent.destroy();
  server.close();
  await push.close();
}

void main();
