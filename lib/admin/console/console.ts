import { hostname } from "node:os";
import { PUSH_EVENT_TYPES } from "../../event/event";
import { hideUserInfo } from "../../form/url";
import { inspectReceiver } from "../../receiver/inspection";
import type { PushWebhooks } from "../../receiver/receiver";
import type { AdminClient } from "../client/client";
import { readAssets } from "./assets";
import type { ConsoleSettings } from "./console-view";
import { createLive, type Live } from "./live";
import type { ConsoleOptions } from "./options";
import type { ConsoleQueue } from "./queue-view";
import { createQueueStates } from "./queue-states";
import { createRequestLog, type RequestLog } from "./request-log";
import type { Assets } from "./assets";
import type { ReceiverInspection } from "../../receiver/inspection";

/** A receiver that a console shows. */
export interface ShownReceiver {
  push: PushWebhooks;
  inspection: ReceiverInspection;
  log: RequestLog;
  live: Live;
}

/** A console, as its routes use it. */
export interface Console {
  client: AdminClient;
  assets: Assets;
  reveals: boolean;
  queue: ConsoleQueue | undefined;
  receiver: ShownReceiver | undefined;
  readSettings(): ConsoleSettings;
}

/** The parts of a console. */
export interface ConsoleParts {
  client: AdminClient;
  receiver: PushWebhooks | undefined;
  queue: ConsoleQueue | undefined;
  readOnly: boolean;
}

/**
 * Creates a console; from now on the last requests of the receiver are kept in memory.
 *
 * @throws Error when the files of the page are missing.
 */
export function createConsole(
  { client, receiver: push, queue, readOnly }: ConsoleParts,
  { reveal: reveals = false }: ConsoleOptions,
): Console {
  const assets = readAssets();
  const receiver = push === undefined ? undefined : showReceiver(push, queue, reveals);
  return {
    client,
    assets,
    reveals,
    queue,
    receiver,
    readSettings: () => ({
      name: receiver?.inspection.name,
      readOnly,
      reveals,
      keySid: client.keySid,
      eventTypes: PUSH_EVENT_TYPES,
      hasQueue: queue !== undefined,
      receiver: receiver && describeReceiver(receiver, readOnly),
    }),
  };
}

function showReceiver(
  push: PushWebhooks,
  queue: ConsoleQueue | undefined,
  reveals: boolean,
): ShownReceiver | undefined {
  const inspection = inspectReceiver(push);
  if (inspection === undefined) return undefined;
  const owner = { id: crypto.randomUUID().slice(0, 8), name: `${process.pid} on ${hostname()}` };
  const log = createRequestLog(inspection, owner, reveals);
  return {
    push,
    inspection,
    log,
    live: createLive(log, queue && createQueueStates(log, queue, reveals)),
  };
}

function describeReceiver(
  { push, inspection }: ShownReceiver,
  readOnly: boolean,
): NonNullable<ConsoleSettings["receiver"]> {
  const publicUrls = push.publicUrls.map(hideUserInfo);
  return {
    publicUrls,
    isUrlComplete: publicUrls[0] === push.publicUrl,
    tokenCount: inspection.tokenCount,
    handledTypes: push.handledTypes(),
    canSendTest: inspection.signRequest !== undefined && !readOnly,
  };
}
