import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Notification } from "pg";
import { WebhookError } from "../../errors/webhook-error";
import { createAliveLock } from "./alive-lock";
import { checkDurability } from "./durability";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { assertNotPooled } from "./pooler";
import type { QueueError } from "../queue-error";
import { toRejection } from "./rejection";
import { prepareSchema } from "./schema";
import type { Server } from "./server";

/**
 * The one connection of a process that listens. It checks each Postgres that it reaches, and holds
 * the advisory lock that shows that the workers of this process are alive.
 */
export interface Session {
  /** Resolves once Postgres can be used; see the queue's method of this name. */
  ready(): Promise<void>;
  /** Resolves once the connection is established, also after failed attempts. */
  wait(): Promise<void>;
  /** @throws why Postgres cannot be used. */
  assertOpen(): void;
  /** Identifies this process in `push_lane`. */
  owner: number;
  /** Shows, or shows no longer, that workers of this process are alive. */
  setWorking(isWorking: boolean): void;
  /** Emits "open", and "notification" with what pg does. */
  events: EventEmitter<{ open: []; notification: [Notification] }>;
  /**
   * Asserts that Postgres responds; reconnects otherwise. Also takes the lock that shows that workers
   * are alive, if another connection held it before.
   */
  ping(): void;
  close(): void;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 250;
const PAUSE_AFTER_REJECTION_MS = 5_000;

/** Opens the session of a queue, and goes on trying for as long as it is not closed. */
export function openSession(server: Server, settings: PostgresSettings): Session {
  const { logger } = settings;
  const { channel, lockClass } = namesOf(settings);
  const events: Session["events"] = new EventEmitter();
  events.setMaxListeners(0);
  const readiness = new EventEmitter<{ settled: [] }>();
  readiness.setMaxListeners(0);
  const closing = new AbortController();
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  const owner = random % 2 ** 31;
  let client: Client | undefined;
  let destroyClient: (() => void) | undefined;
  let closedBy: Error | undefined = new Error("Postgres was not reached yet.");
  let rejection: Error | undefined;
  let isOut = false;
  let isWorking = false;
  const lock = createAliveLock([lockClass, owner], () => isWorking);

  const isOpen = () => closedBy === undefined;

  async function connect(): Promise<void> {
    const { client: opened, destroy } = server.createClient();
    // Not once(): it rejects for the error of a connection that is destroyed below.
    const ended = new Promise((resolve) => opened.once("end", resolve));
    try {
      await opened.connect();
      await checkDurability(opened, settings);
      await assertNotPooled(opened, server.createClient().client);
      await prepareSchema(opened, server, settings);
      // A machine that is gone closes no connection: Postgres finds out within 9 s.
      await opened.query(
        `set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3; listen "jobs:insert"; listen "${channel}"`,
      );
      client = opened;
      destroyClient = destroy;
      opened.on("notification", (message) => events.emit("notification", message));
      await lock.align(opened);
      open();
      await ended;
      fall(new Error("The connection to Postgres ended."));
    } finally {
      client = undefined;
      destroy();
    }
  }

  async function keepConnected(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      try {
        await connect();
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        fall(error as Error);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      const waitMs = rejection === undefined ? pauseMs : PAUSE_AFTER_REJECTION_MS;
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  function open(): void {
    if (isOut) logger?.info({}, "Postgres is back");
    isOut = false;
    closedBy = undefined;
    rejection = undefined;
    readiness.emit("settled");
    events.emit("open");
  }

  function fall(error: Error): void {
    if (closing.signal.aborted) return;
    const found = toRejection(error);
    if (found !== undefined && found.message !== rejection?.message) warn(found);
    else if (!isOut && found === undefined) warnOfOutage(error);
    isOut = true;
    rejection = found;
    closedBy = found ?? error;
    if (found !== undefined) readiness.emit("settled");
  }

  function warn({ code, message }: QueueError): void {
    if (logger !== undefined) logger.error({ code }, message);
    else process.emitWarning(message, { type: "PushWebhooksWarning", code });
  }

  function warnOfOutage(error: Error): void {
    const { code = error.name, message } = error as NodeJS.ErrnoException;
    if (logger !== undefined) logger.warn({ code }, "Postgres is out of reach");
    else {
      // A failed connection to several addresses has a code and no message.
      process.emitWarning(`postgresQueue: Postgres is out of reach: ${message || code}`, {
        type: "PushWebhooksWarning",
        code: "POSTGRES_UNREACHABLE",
      });
    }
  }

  async function query(run: (on: Client) => Promise<unknown>): Promise<void> {
    const on = client;
    if (on === undefined) return;
    try {
      await run(on);
    } catch {
      // Without a response the connection is of no use.
      if (on === client) destroyClient?.();
    }
  }

  void keepConnected();
  return {
    owner,
    events,
    async ready() {
      while (!isOpen()) {
        if (closing.signal.aborted) throw new WebhookError("CLOSING", "The queue was closed.");
        if (rejection !== undefined) throw rejection;
        await once(readiness, "settled");
      }
    },
    async wait() {
      while (!isOpen()) await once(events, "open");
    },
    assertOpen() {
      if (closedBy !== undefined) throw closedBy;
    },
    setWorking(next) {
      isWorking = next;
      void query(lock.align);
    },
    ping() {
      void query((on) => on.query("select 1"));
      void query(lock.align);
    },
    close() {
      closing.abort();
      closedBy = new WebhookError("CLOSING", "The queue was closed.");
      rejection = undefined;
      readiness.emit("settled");
      client?.end().catch(() => {});
    },
  };
}
