/** The auth token of the service is rotated while two processes of an app sign users in. */
import { join } from "node:path";
import type { Device, Emulator } from "express-push-verification/emulator";
import { createChildProcesses } from "./support/child-processes";
import { startEmulator, startTarget, stopEmulators } from "./support/emulators";
import type { LoginProcessSettings } from "./support/login-process";
import { describeWithRedis, startRedis, stopRedis } from "./support/redis";
import { passOn } from "./support/servers";
import { until } from "./support/waiting";

const OLD = "4f1d9a70c2b84e6f9b3350e1d7a6c815";
const NEW = "93d1f6a2b8c74d0e8a5f2c1b7e604d39";
const LANES = 4;
const apps = createChildProcesses(join(__dirname, "support/login-process.ts"));

/** Starts two processes behind a balancer, and the service that sends them webhook requests. */
async function start() {
  const emulator = await startEmulator({ authToken: OLD });
  const ports: number[] = [];
  let requests = 0;
  const balancer = await startTarget((req, res) =>
    passOn(ports[requests++ % ports.length] ?? 0, req, res),
  );
  const publicUrl = `${balancer}/webhooks/push`;
  emulator.createWebhook({ webhook_url: publicUrl });
  const { url, accountSid, serviceSid } = emulator;
  const urls = { accountUrl: url, verifyUrl: url };
  const settings: LoginProcessSettings = {
    receiver: { authToken: [NEW, OLD], publicUrl },
    client: { ...urls, accountSid, serviceSid, password: [NEW, OLD] },
    connection: (await startRedis()).url,
  };
  const tokens: string[] = [];
  const onMessage = (message: string) => {
    const [kind, value = ""] = message.split(" ");
    if (kind === "port") ports.push(Number(value));
    else tokens.push(value);
  };
  const starting = [1, 2].map(() => apps.start([JSON.stringify(settings)], onMessage));
  await Promise.all(starting);
  return { emulator, balancer, tokens };
}

/** Signs a user in again and again until `isOver`; counts the logins, and those that were lost. */
async function signIn(
  { emulator, balancer }: { emulator: Emulator; balancer: string },
  device: Device,
  entity_identity: string,
  count: (isLost: boolean) => void,
  isOver: () => boolean,
): Promise<void> {
  const { sid: factor_sid } = device.register({ entity_identity });
  while (!isOver()) {
    const { sid } = emulator.createChallenge({ factor_sid });
    const outcome = fetch(`${balancer}/wait/${entity_identity}/${sid}`).then((res) => res.text());
    device.approve(sid);
    count(!(await outcome).startsWith("challenge.approved "));
  }
}

afterEach(async () => {
  await apps.killAll();
  await stopEmulators();
  await stopRedis();
});

describeWithRedis("a rotation of the auth token under load", () => {
  it("loses no login of two processes whose receiver and client have both tokens", async () => {
    const service = await start();
    const { emulator, tokens } = service;
    let [done, lost, isOver] = [0, 0, false];
    const count = (isLost: boolean) => {
      done++;
      if (isLost) lost++;
    };
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      signIn(service, emulator.device(), `user-000${lane}`, count, () => isOver),
    );
    await until(() => done >= 5 * LANES);
    emulator.rotateAuthToken(NEW);
    const rotatedAt = done;
    await until(() => done >= rotatedAt + 10 * LANES);
    isOver = true;
    await Promise.all(lanes);
    expect(lost).toBe(0);
    expect(new Set(tokens)).toEqual(new Set(["1", "0"]));
  });
});
