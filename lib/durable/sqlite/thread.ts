/** The thread that owns the file of a queue: the app never waits for the disk. */
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { openDatabase } from "./database";
import { explainDamage, explainOpening, isDamage } from "./file-error";
import { sqliteCodeOf, type PreparedStatement } from "./node-sqlite";
import { FileOperations, METHODS, type MethodName } from "./operations";
import type { SqliteSettings } from "./options";
import { LEASE_MS } from "../lease";
import type { Hint } from "../storage";

/** What a thread needs to know. */
export type ThreadSettings = Pick<SqliteSettings, "file" | "name" | "dedupeTtlMs" | "outcomeTtlMs">;

/** A call of a method; `"close"` closes the file and ends the thread. */
export type FileRequest = readonly [method: MethodName, args: readonly unknown[]] | "close";

/** An error with the code of a QueueError or of SQLite: an Error loses it when posted. */
export type ThreadFailure = Pick<NodeJS.ErrnoException, "code" | "message">;

/** A message of the thread. */
export type ThreadMessage =
  | { type: "open" }
  | { type: "reply"; value?: unknown; failure?: ThreadFailure }
  | { type: "hint"; hint: Hint }
  /** The file cannot be used; the thread ends. */
  | { type: "end"; failure: ThreadFailure };

/** The pause between polls while other processes write to the file. */
const SHARED_POLL_MS = 5;
/** The pause between polls without them: how soon a process that starts is noticed. */
const LONGEST_POLL_MS = 100;

const settings = workerData as ThreadSettings;
const { file, name } = settings;
const port = parentPort as MessagePort;
const post = (message: ThreadMessage) => port.postMessage(message);
let database: ReturnType<typeof openDatabase>;
let operations: FileOperations;
let versionPragma: PreparedStatement;
let seenVersion: number | undefined;
let othersWroteAtMs: number;

function toThreadFailure(error: unknown): ThreadFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  // Some messages do not name the file.
  return {
    code: sqliteCodeOf(error) ?? code,
    message: message.includes(file) ? message : `${message} (${file})`,
  };
}

/** Returns whether a row holds an integer that is not safe, or that grew to a real number. */
function isOutOfRange(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ERR_OUT_OF_RANGE" || sqliteCodeOf(error) === "SQLITE_CONSTRAINT";
}

function openFile(): void {
  try {
    database = openDatabase(file, name);
    operations = database.read(() => new FileOperations(database.connection, settings));
    resetIds();
  } catch (error) {
    post({ type: "end", failure: toThreadFailure(explainOpening(file, error)) });
    port.close();
    return;
  }
  versionPragma = database.connection.prepare("PRAGMA data_version");
  post({ type: "open" });
  port.on("message", receive);
  poll();
}

function receive(request: FileRequest): void {
  if (request === "close") return closeFile();
  const [method, args] = request;
  guard(() => {
    let reply: ThreadMessage;
    try {
      reply = { type: "reply", value: run(method, args) };
    } catch (error) {
      // The caller runs the operation again.
      const isForeign = isOutOfRange(error);
      if (isForeign) database.transact(true, () => operations.bury());
      else if (isDamage(error)) throw error;
      if (isForeign || sqliteCodeOf(error) === "SQLITE_FULL") resetIds();
      reply = { type: "reply", failure: toThreadFailure(error) };
    }
    // Before the reply: what was written to a removed file is not stored.
    if (METHODS[method] !== "read") database.assertInPlace();
    post(reply);
  });
}

function resetIds(): void {
  if (!database.read(() => operations.isIdTaken())) return;
  database.transact(true, () => operations.resetIds());
}

function run(method: MethodName, args: readonly unknown[]): unknown {
  const operation = operations[method] as (...values: readonly unknown[]) => unknown;
  const call = () => operation.apply(operations, [...args]);
  const kind = METHODS[method];
  if (kind === "read") return database.read(call);
  const [owner, held] = args as Parameters<typeof operations.isClaimNeeded>;
  const isNeeded = () => operations.isClaimNeeded(owner, held);
  if (method === "claim" && !database.read(isNeeded)) return [];
  return database.transact(kind === "durable", call);
}

/** Looks for events of other processes, again and again. */
function poll(): void {
  guard(() => {
    const version = database.read(() => Number(versionPragma.get()?.data_version));
    if (version === seenVersion) return;
    seenVersion = version;
    othersWroteAtMs = performance.now();
    post({ type: "hint", hint: database.read(() => operations.readNews()) });
  });
  const isShared = performance.now() - othersWroteAtMs < LEASE_MS;
  setTimeout(poll, isShared ? SHARED_POLL_MS : LONGEST_POLL_MS).unref();
}

/** Closes the file when it fails or is damaged. */
function guard(step: () => unknown): void {
  if (!database.isOpen()) return;
  try {
    step();
  } catch (error) {
    post({ type: "end", failure: toThreadFailure(explainDamage(file, error)) });
    closeFile();
  }
}

function closeFile(): void {
  if (database.isOpen()) database.close();
  port.close();
}

openFile();
