import type { Redis } from "ioredis";
import { createNeutralCause } from "../../errors/neutral-cause";
import { describeRedisError, listServers } from "./connection";
import { createDurabilityCheck } from "./durability";
import { QueueError } from "../queue-error";
import type { RedisSettings } from "./options";
import { findRedisRejection } from "./redis-reply";
import { parseServerInfo } from "./server-info";
import { createClosedError } from "../closed-error";

/** Tells whether events can be stored: Redis is reached, accepts the queue and is durable. */
export interface Readiness {
  /** See the method of this name of `DurableQueue`. */
  ready(): Promise<void>;
  /** @throws the reason why no event can be stored now. */
  assertReady(): void;
  /** @throws the reason why Redis is out of reach; it need not be durable. */
  assertReachable(): void;
  /** Rejects pending and later calls of `ready`. */
  close(): void;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;
/** A rejection lasts until an operator changes something. */
const FIRST_RECHECK_MS = 1_000;
const LONGEST_RECHECK_MS = 30_000;
const WARN_AFTER_MS = 2_000;

/**
 * Checks Redis after each connection, which may reach another server. Nothing is stored before.
 *
 * A server that rejects the queue, or is not durable, rejects `ready()` and is checked again after
 * 1 s to 30 s; every other failure is an outage that `ready()` waits for.
 */
export function watchReadiness(redis: Redis, settings: RedisSettings): Readiness {
  const { logger } = settings;
  const durability = createDurabilityCheck(settings);
  const pendingReady = new Set<PendingReady>();
  let problem: Error | undefined = new Error("Redis was not reached yet.");
  /** Rejects ready(); undefined in an outage. */
  let rejection: Error | undefined;
  let lastReported: string | undefined;
  let failures = 0;
  let checks = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  redis.on("ready", () => void check());
  redis.on("+node", () => void check());
  redis.on("error", (error: unknown) => {
    const rejected = findRedisRejection(error);
    if (rejected === undefined) setOutage(error);
    else reject(toRejection(rejected));
  });
  redis.on("close", () => {
    checks++;
    if (problem === undefined) setOutage(new Error("the connection was closed"));
  });

  function setOutage(error: unknown): void {
    problem = new Error(`Redis is out of reach: ${describeRedisError(error)}`);
    rejection = undefined;
  }

  function reject(error: Error): void {
    problem = error;
    rejection = error;
    for (const pending of pendingReady) pending.reject(error);
    pendingReady.clear();
    if (error.message === lastReported) return;
    lastReported = error.message;
    if (logger === undefined) process.emitWarning(error.message, { type: "DurabilityWarning" });
    else logger.error({ err: error }, error.message);
  }

  async function check(): Promise<void> {
    clearTimeout(timer);
    const run = ++checks;
    try {
      const servers = listServers(redis);
      if (servers.length === 0) throw new Error("The cluster has no primary.");
      for (const server of servers) await checkServer(server);
      if (run === checks) accept();
    } catch (error) {
      if (run === checks && !isClosed) fail(error);
    }
  }

  async function checkServer(server: Redis): Promise<void> {
    const { role, isClusterNode } = parseServerInfo(await readInfo(server));
    if (isClusterNode && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a node of a Redis Cluster. Pass connection: { cluster: [{ host, port }] }.",
      );
    }
    if (role === "slave" && !redis.isCluster) {
      throw createRejection(
        "redisQueue: connection is a replica, which stores nothing. Pass its primary, or the sentinels that know it.",
      );
    }
    await durability.check(server);
  }

  function accept(): void {
    problem = undefined;
    rejection = undefined;
    lastReported = undefined;
    failures = 0;
    for (const pending of pendingReady) pending.resolve();
    pendingReady.clear();
  }

  function fail(error: unknown): void {
    const rejected = findRedisRejection(error);
    if (rejected !== undefined || error instanceof QueueError) {
      reject(rejected === undefined ? (error as Error) : toRejection(rejected));
      checkAfter(Math.min(FIRST_RECHECK_MS * 2 ** failures++, LONGEST_RECHECK_MS));
      return;
    }
    setOutage(error);
    // A reply that arrives after the time-out would count as the reply to the next command.
    const isLate = (error as Error).message === "Command timed out";
    if (isLate) redis.disconnect(true);
    else checkAfter(Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS));
  }

  function checkAfter(pauseMs: number): void {
    timer = setTimeout(() => {
      if (redis.status === "ready") void check();
    }, pauseMs);
    timer.unref();
  }

  /** Without a logger, a process that waits for ever would not say why. */
  function warnIfStillWaiting(): void {
    if (problem === undefined || isClosed) return;
    process.emitWarning(`redisQueue: ready() waits. ${problem.message}`, {
      type: "PushWebhooksWarning",
      code: "REDIS_UNREACHABLE",
    });
  }

  return {
    ready() {
      if (isClosed) return Promise.reject(createClosedError());
      if (problem === undefined) return Promise.resolve();
      if (rejection !== undefined) return Promise.reject(rejection);
      if (logger === undefined) setTimeout(warnIfStillWaiting, WARN_AFTER_MS).unref();
      return new Promise((resolve, rejectReady) => {
        pendingReady.add({ resolve, reject: rejectReady });
      });
    },
    assertReady() {
      if (problem !== undefined) throw problem;
    },
    assertReachable() {
      if (redis.status !== "ready") throw problem ?? new Error("Redis is out of reach.");
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const pending of pendingReady) pending.reject(createClosedError());
      pendingReady.clear();
    },
  };
}

interface PendingReady {
  resolve: () => void;
  reject: (error: Error) => void;
}

/** A Redis that rejects INFO to its user is taken for a primary. */
async function readInfo(server: Redis): Promise<string> {
  try {
    return await server.info();
  } catch (error) {
    if (findRedisRejection(error) === undefined) throw error;
    return "";
  }
}

function createRejection(message: string, cause?: unknown): QueueError {
  const options = cause === undefined ? undefined : { cause: createNeutralCause(cause) };
  return new QueueError("REDIS_REJECTED", message, options);
}

function toRejection(rejected: Error): QueueError {
  const words = describeRedisError(rejected);
  return createRejection(
    `redisQueue: Redis rejects the queue: ${words.replace(/\.?$/, ".")} ${findAdvice(words)}`,
    rejected,
  );
}

function findAdvice(words: string): string {
  if (words.startsWith("NOPERM")) {
    return "The user of connection needs every command of BullMQ.";
  }
  if (/^(WRONGPASS|NOAUTH)\b|\b(auth|password)\b/i.test(words)) {
    return "Check username, password and the other options of connection.";
  }
  return "Check the options of connection, the commands that redis.conf renames, and any proxy: the queue needs every command of BullMQ, INFO included.";
}
