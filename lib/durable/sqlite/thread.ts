/** The thread that owns the connection of one queue, so that the app never waits for the disk. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openDatabase, type Database } from "./database";
import { createEngine, type Engine } from "./engine";
import { explainDamage, isFinal } from "./file-error";
import { sqliteCodeOf } from "./node-sqlite";
import type { Request, ThreadFailure, ThreadMessage, ThreadSettings } from "./protocol";
import { QueueError } from "../queue-error";

const REOPEN_MS = 250;
/** Between the steps of a scan, so that stores are not kept waiting. */
const SCAN_PAUSE_MS = 20;

const { file, name } = workerData as ThreadSettings;
const port = parentPort;
if (port === null) throw new Error("This file is the entry of a worker thread.");

let database: Database | undefined;
let engine: Engine | undefined;
let timer: NodeJS.Timeout | undefined;
let scanTimer: NodeJS.Timeout | undefined;
let pollAtMs = Number.POSITIVE_INFINITY;
let isPurging = false;

const post = (message: ThreadMessage) => port.postMessage(message);

function toThreadFailure(error: unknown): ThreadFailure {
  if (error instanceof QueueError) {
    return { code: error.code, message: error.message, fileCode: error.code };
  }
  const { message, code } = error as NodeJS.ErrnoException;
  return { code: sqliteCodeOf(error) ?? code, message };
}

function openFile(): void {
  try {
    database = openDatabase(file, name);
    engine = createEngine(database, post, toThreadFailure);
    post({ type: "open" });
    schedulePoll();
    if (database.scan !== undefined) scan();
  } catch (error) {
    giveUp(error);
  }
}

/** Closes the file, and opens it again later unless only a person can repair it. */
function giveUp(error: unknown): void {
  close();
  const explained = explainDamage(file, error);
  post({ type: "closed", failure: toThreadFailure(explained) });
  if (!isFinal(explained)) timer = setTimeout(openFile, REOPEN_MS);
}

function close(): void {
  clearTimeout(timer);
  clearTimeout(scanTimer);
  pollAtMs = Number.POSITIVE_INFINITY;
  database?.connection.close();
  database = undefined;
  engine = undefined;
}

function schedulePoll(): void {
  if (engine === undefined) return;
  const delayMs = engine.pollDelayMs();
  const nextMs = performance.now() + delayMs;
  // A poll that is due earlier stays: requests that arrive all the time would put it off for ever.
  if (nextMs >= pollAtMs) return;
  clearTimeout(timer);
  pollAtMs = nextMs;
  timer = setTimeout(poll, delayMs);
}

/** Runs what needs an open file, which a failure of the file itself closes. */
function guard(run: (opened: Engine, openedDatabase: Database) => void): void {
  if (engine === undefined || database === undefined) return;
  try {
    run(engine, database);
    schedulePoll();
  } catch (error) {
    giveUp(error);
  }
}

function poll(): void {
  pollAtMs = Number.POSITIVE_INFINITY;
  guard((opened) => opened.poll());
}

function scan(): void {
  guard((_, { scan: opened }) => {
    if (opened?.readOn() === true) scanTimer = setTimeout(scan, SCAN_PAUSE_MS);
  });
}

function purge(): void {
  isPurging = false;
  guard((opened) => {
    // In steps, so that stores are not kept waiting.
    if (opened.purge()) startPurge();
  });
}

function startPurge(): void {
  if (!isPurging) setImmediate(purge);
  isPurging = true;
}

port.on("message", (first: Request[]) => {
  const requests = [...first];
  // What arrived while the disk was busy goes into the same transaction.
  for (;;) {
    const next = receiveMessageOnPort(port);
    if (next === undefined) break;
    requests.push(...(next.message as Request[]));
  }
  const has = (wanted: string) => requests.some(([, operation]) => operation === wanted);
  guard((opened, openedDatabase) => {
    if (has("heartbeat")) {
      openedDatabase.assertInPlace();
      startPurge();
    }
    opened.run(requests);
  });
  if (!has("leave")) return;
  close();
  port.close();
});

openFile();
