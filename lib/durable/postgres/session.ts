import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, Notification } from "pg";
import { createAliveLock } from "./alive-lock";
import { assertWritable, checkDurability } from "./durability";
import { namesOf } from "./names";
import type { PostgresSettings } from "./options";
import { assertNotPooled } from "./pooler";
import { prepareSchema } from "./schema";
import type { Server, Statement } from "./server";
import { createServerState, type ServerState } from "./server-state";

/**
 * The one connection of a process that listens. It checks each Postgres that it reaches, and shows
 * that the workers of this process are alive: it holds an advisory lock, and registers.
 */
export interface Session extends Pick<ServerState, "ready" | "wait" | "assertOpen"> {
  /** Identifies this process in `push_lane`. */
  owner: number;
  /** Shows, or shows no longer, that workers of this process are alive. */
  setWorking(isWorking: boolean): void;
  /** Emits "open", and "notification" with what pg does. */
  events: EventEmitter<{ open: []; notification: [Notification] }>;
  /**
   * Asserts that Postgres responds and takes writes; reconnects otherwise. Also takes the lock that
   * shows that workers are alive, if another connection held it before.
   */
  ping(): void;
  /** Runs a short statement that a crash of Postgres may undo. */
  run(statement: Statement): Promise<void>;
  close(): void;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 250;
/** Shorter than `LONGEST_ABSENCE_MS`: the first process that is accepted again waits for the others. */
const PAUSE_AFTER_REJECTION_MS = 2_000;
const LOCK_TIMEOUT_MS = 2_000;

/** Opens the session of a queue, and goes on trying for as long as it is not closed. */
export function openSession(server: Server, settings: PostgresSettings): Session {
  const { channel, lockClass } = namesOf(settings);
  const events: Session["events"] = new EventEmitter();
  events.setMaxListeners(0);
  const state = createServerState(settings.logger);
  const closing = new AbortController();
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  const owner = random % 2 ** 31;
  let client: Client | undefined;
  let destroyClient: (() => void) | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let isWorking = false;
  const lock = createAliveLock([lockClass, owner], () => isWorking);

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
        `set tcp_keepalives_idle = 3; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
        set synchronous_commit = off; set lock_timeout = ${LOCK_TIMEOUT_MS}; listen "jobs:insert"; listen "${channel}"`,
      );
      client = opened;
      last = Promise.resolve();
      destroyClient = destroy;
      opened.on("notification", (message) => events.emit("notification", message));
      await lock.align(opened);
      state.open();
      events.emit("open");
      await ended;
      state.fail(new Error("The connection to Postgres ended."));
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
        state.fail(error as Error);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      const waitMs = state.isRejected() ? PAUSE_AFTER_REJECTION_MS : pauseMs;
      await sleep(waitMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  /** Runs statements after those that run: pg queues none. */
  function queryInTurn(on: Client, run: (on: Client) => Promise<unknown>): Promise<unknown> {
    const result = last.then(() => run(on));
    last = result.catch(() => {});
    return result;
  }

  async function query(run: (on: Client) => Promise<unknown>): Promise<void> {
    const on = client;
    if (on === undefined) return;
    try {
      await queryInTurn(on, run);
    } catch {
      // Without a response the connection is of no use. A new one finds out why Postgres is read-only.
      if (on === client) destroyClient?.();
    }
  }

  void keepConnected();
  return {
    owner,
    events,
    ready: state.ready,
    wait: state.wait,
    assertOpen: state.assertOpen,
    setWorking(next) {
      isWorking = next;
      void query(lock.align);
    },
    ping() {
      void query(assertWritable);
      void query(lock.align);
    },
    async run({ text, values = [] }) {
      state.assertOpen();
      if (client !== undefined) await queryInTurn(client, (on) => on.query(text, [...values]));
    },
    close() {
      closing.abort();
      state.close();
      client?.end().catch(() => {});
    },
  };
}
