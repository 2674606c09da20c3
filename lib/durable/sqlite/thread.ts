/** The thread that owns the connection of one queue, so that the app never waits for the disk. */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openDatabase, type Database } from "./database";
import { createEngine, type Engine } from "./engine";
import { sqliteCodeOf } from "./node-sqlite";
import type { Request, ThreadFailure, ThreadMessage, ThreadSettings } from "./protocol";
import { QueueError } from "../queue-error";

const REOPEN_MS = 250;

const { file, name } = workerData as ThreadSettings;
const port = parentPort;
if (port === null) throw new Error("This file is the entry of a worker thread.");

let database: Database | undefined;
let engine: Engine | undefined;
let timer: NodeJS.Timeout | undefined;
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
  } catch (error) {
    close();
    post({ type: "closed", failure: toThreadFailure(error) });
    const isFinal = error instanceof QueueError && error.code !== "FILE_IN_USE";
    if (!isFinal) timer = setTimeout(openFile, REOPEN_MS);
  }
}

function close(): void {
  clearTimeout(timer);
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

/** Runs what needs an open file; a failure of the file itself closes it and opens it again. */
function guard(run: (opened: Engine, openedDatabase: Database) => void): void {
  if (engine === undefined || database === undefined) return;
  try {
    run(engine, database);
    schedulePoll();
  } catch (error) {
    close();
    post({ type: "closed", failure: toThreadFailure(error) });
    timer = setTimeout(openFile, REOPEN_MS);
  }
}

function poll(): void {
  pollAtMs = Number.POSITIVE_INFINITY;
  guard((opened) => opened.poll());
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
