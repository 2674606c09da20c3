/** A login app in front of an emulator, of which a test breaks one link, and its rehearsal. */
import type { RequestListener } from "node:http";
import express from "express";
import {
  pushWebhooks,
  type PushWebhooks,
  type PushWebhooksOptions,
} from "express-push-verification";
import {
  confirmWith,
  rehearse,
  type AdminClientOptions,
  type RehearsalReport,
} from "express-push-verification/admin";
import type { DurableQueue } from "express-push-verification/durable";
import { AS_PUBLIC_SERVICE } from "express-push-verification/emulator";
import type { NewWebhook } from "../../lib/emulator/options";
import { callApi, clientOf, startEmulator, startTarget } from "./emulators";
import { silent } from "./receivers";

export interface Broken {
  client?: Partial<AdminClientOptions>;
  /** Undefined fields keep their values; null: there is no Webhook. */
  webhook?: Partial<NewWebhook> | null;
  hasSlash?: boolean;
  isDoubled?: boolean;
  receiver?: Partial<PushWebhooksOptions>;
  /** Another receiver, such as that of another process, gets the requests. */
  other?: Partial<PushWebhooksOptions>;
  /** What a proxy, or a middleware, does with a request before the receiver. */
  before?: express.RequestHandler;
  /** Null: the app only waits. */
  handler?: (() => unknown) | null;
  queue?: DurableQueue;
  hasWorker?: boolean;
  timeoutMs?: number;
}

const PATH = "/webhooks/push";
/** The clock of the service is right, also where a test changes that of the app. */
const now = () => performance.timeOrigin + performance.now();

export async function startBroken(broken: Broken) {
  const { webhook = {}, queue, handler = () => {} } = broken;
  const emulator = await startEmulator({ ...AS_PUBLIC_SERVICE, now });
  let listener: RequestListener = (_req, res) => void res.end();
  const publicUrl = `${await startTarget((req, res) => listener(req, res))}${PATH}`;
  const client = clientOf(emulator, { maxRetries: 0, ...broken.client });
  const settings: PushWebhooksOptions = {
    authToken: emulator.authToken,
    publicUrl,
    logger: silent,
    confirm: confirmWith(clientOf(emulator)),
    ...(queue !== undefined && { queue }),
  };
  const open = (options: Partial<PushWebhooksOptions> = {}): PushWebhooks => {
    const push = pushWebhooks({ ...settings, ...options });
    if (handler !== null) push.on("challenge.approved", handler);
    return push;
  };
  const push = open(broken.receiver);
  const receiving = broken.other === undefined ? push : open(broken.other);
  const app = express();
  if (broken.before !== undefined) app.use(broken.before);
  app.use(PATH, receiving);
  listener = app;
  if (webhook !== null) {
    const slash = broken.hasSlash === true ? "/" : "";
    const created = {
      webhook_url: `${push.publicUrl}${slash}`,
      event_types: ["challenge.approved"] as const,
    };
    for (let copy = 0; copy < (broken.isDoubled === true ? 2 : 1); copy++)
      emulator.createWebhook({ ...created, ...webhook });
  }
  if (queue !== undefined && broken.hasWorker !== false) queue.work(receiving.handlers);
  return { push, receiving, client, emulator };
}

/** Starts app and service, rehearses a login, and returns also what is left of its user. */
export async function rehearseBroken(broken: Broken) {
  const { push, receiving, client, emulator } = await startBroken(broken);
  const report = await rehearse({ push, client, timeoutMs: broken.timeoutMs ?? 20_000 });
  const entity = `/v2/Services/${emulator.serviceSid}/Entities/${report.identity}`;
  const { status: entityStatus } = await callApi(emulator, "GET", entity);
  await push.close({ deadlineMs: 0 });
  if (receiving !== push) await receiving.close({ deadlineMs: 0 });
  return { report, entityStatus };
}

export const failedLinks = ({ rows }: RehearsalReport): string[] =>
  rows.filter(({ result }) => result === "failed").map(({ link }) => link);
