/**
 * Logins wait in this process; their webhooks arrive within 3 ms before or after that, at another.
 *
 * npx tsx bench/durable/waits.ts [waits]
 * ENGINE=sqlite npm run node24 -- --import tsx bench/durable/waits.ts [waits]
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pushWebhooks } from "express-push-verification";
import { signedRequest } from "express-push-verification/testing";
import { openQueue, startStore } from "./engine";
import { findFreePort, now, percentile, settings, startProcess } from "./processes";

const [, , waits = "5000"] = process.argv;

async function main(): Promise<void> {
  const store = await startStore();
  const port = await findFreePort();
  const web = await startProcess("web.ts", { ...store.env, PORT: String(port) });
  const queue = openQueue(store.env);
  const push = pushWebhooks({ ...settings, queue });
  await queue.ready();
  const delaysMs: number[] = [];
  let lost = 0;

  async function race(): Promise<void> {
    const challenge_sid = `YC${randomBytes(16).toString("hex")}`;
    const uuid = randomUUID();
    const overrides = { challenge_sid, uuid, entity_identity: "user-1" };
    const request = signedRequest(settings, "challenge.approved", overrides);
    const arrives = async () => {
      await sleep(Math.random() * 6);
      const { method, headers, body = "" } = request;
      const response = await fetch(`http://127.0.0.1:${port}/push`, { method, headers, body });
      return Number(response.headers.get("x-received-at"));
    };
    const waitsFor = async () => {
      await sleep(3);
      const startedAt = now();
      const wait = {
        challengeSid: challenge_sid,
        entityIdentity: "user-1",
        timeoutMs: 10_000,
      };
      const isResolved = await push.waitForChallenge(wait).then(
        () => true,
        () => false,
      );
      if (!isResolved) lost++;
      return { startedAt, resolvedAt: now() };
    };
    const [receivedAt, { startedAt, resolvedAt }] = await Promise.all([arrives(), waitsFor()]);
    delaysMs.push(resolvedAt - Math.max(receivedAt, startedAt));
  }
  async function raceOneByOne(count: number): Promise<void> {
    for (let done = 0; done < count; done++) await race();
  }
  await raceOneByOne(200);
  delaysMs.length = 0;
  const lanes = 4;
  await Promise.all(Array.from({ length: lanes }, () => raceOneByOne(Number(waits) / lanes)));
  const [p50, p99] = [percentile(delaysMs, 0.5), percentile(delaysMs, 0.99)];
  console.log(`${delaysMs.length} waits, ${lost} lost, p50 ${p50} ms, p99 ${p99} ms`);
  await queue.close();
  await web.kill();
  await store.remove();
}

void main();
