import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import { postgresQueue, redisQueue, sqliteQueue, type DurableQueue } from "../durable";
import { createLogger } from "../kit/logger";
import { within } from "../kit/response-timeout";
import { print, printJson, printNote, printTable, type Terminal } from "./terminal";
import { Interruption, readVariable } from "./environment";
import { UsageError } from "./arguments";

interface QueueCommandOptions {
  queue?: string;
  ca?: string;
  name: string;
  accountSid?: string;
  all?: boolean;
  json?: boolean;
}

/** Longer than a queue waits for a file that another process has locked. */
const READY_WITHIN_MS = 15_000;

/** What a subcommand does; its argument is a uuid, an identity, or empty. */
type Run = (queue: DurableQueue, options: QueueCommandOptions, argument: string) => Promise<void>;

const OF_ACCOUNT = "account, if several have a dead letter of this uuid";

/** Adds `queue stats|dead-letters|retry|discard|count-user|erase-user`. */
export function addQueueCommand(program: Command, terminal: Terminal): void {
  const queues = program.command("queue").description("look at a queue and at its dead letters");
  const add = (name: string, description: string, run: Run) =>
    addRun(queues.command(name).description(description), terminal, run);

  add("stats", "count the events of the queue", async (queue, { json }) => {
    reportCounts(terminal, json, await queue.stats());
  });
  add("dead-letters", "list the events that exhausted their attempts", (queue, { json }) =>
    listDeadLetters(terminal, queue, json),
  );
  add("retry", "run the handlers of a dead letter again", async (queue, options, uuid) => {
    const { accountSid, all = false } = options;
    if ((uuid === "") !== all) {
      throw new UsageError("Pass either the uuid of a dead letter or --all.");
    }
    const retried = all ? await queue.retryAll() : Number(await queue.retry(uuid, { accountSid }));
    report(terminal, options, "retried", retried);
  })
    .argument("[uuid]", "uuid of the event")
    .option("--all", "retry every dead letter")
    .option("--account-sid <sid>", OF_ACCOUNT);
  add("discard", "remove a dead letter; its uuid stays known", async (queue, options, uuid) => {
    const { accountSid } = options;
    report(terminal, options, "discarded", Number(await queue.discard(uuid, { accountSid })));
  })
    .argument("<uuid>", "uuid of the event")
    .option("--account-sid <sid>", OF_ACCOUNT);
  const addUser = (name: string, description: string, method: "countUserData" | "eraseUserData") =>
    add(name, description, async (queue, { accountSid = "", json }, entityIdentity) => {
      reportCounts(terminal, json, await queue[method]({ accountSid, entityIdentity }));
    })
      .argument("<identity>", "entity_identity of the user")
      .requiredOption("--account-sid <sid>", "account of the user");
  addUser("count-user", "count what the queue holds of a user", "countUserData");
  addUser("erase-user", "erase what the queue holds of a user; uuids stay known", "eraseUserData");
}

/** Adds the options of a queue, and the action that opens it, runs the subcommand and closes it. */
function addRun(command: Command, terminal: Terminal, run: Run): Command {
  return command
    .option("--queue <store>", "redis://…, postgres://… or a file of SQLite, or $PUSH_QUEUE")
    .option("--ca <file>", "PEM file of the authority that signed the certificate of the store")
    .requiredOption("--name <name>", "name of the queue")
    .option("--json", "print one JSON document")
    .action(async () => {
      const options = command.opts<QueueCommandOptions>();
      const queue = openStore(terminal, options);
      try {
        await waitUntilReady(queue, terminal);
        await assertNamed(queue, options.name);
        await run(queue, options, command.args[0] ?? "");
      } finally {
        await queue.close({ deadlineMs: 1_000 });
      }
    });
}

async function listDeadLetters(
  terminal: Terminal,
  queue: DurableQueue,
  isJson: boolean | undefined,
): Promise<void> {
  const rows: Record<string, string | number | undefined>[] = [];
  for await (const deadLetter of queue.deadLetters()) {
    const { uuid, accountSid, receiver, event, attempts, failedAt, error } = deadLetter;
    // Without the event: its parameters identify a user.
    const type = event?.type;
    const at = failedAt.toISOString();
    rows.push({ uuid, accountSid, receiver, type, attempts, failedAt: at, error });
  }
  if (isJson === true) return printJson(terminal, rows);
  const cells = rows.map((row) => Object.values(row).map((cell) => cell ?? ""));
  const header = ["UUID", "ACCOUNT", "RECEIVER", "TYPE", "ATTEMPTS", "FAILED AT", "ERROR"];
  printTable(terminal, header, cells);
}

function reportCounts(terminal: Terminal, isJson: boolean | undefined, counts: object): void {
  if (isJson === true) printJson(terminal, counts);
  else printTable(terminal, ["COUNT", "VALUE"], Object.entries(counts));
}

function report(terminal: Terminal, options: QueueCommandOptions, done: string, count: number) {
  if (count === 0 && options.all !== true) terminal.hasFailed = true;
  if (options.json === true) printJson(terminal, { [done]: count });
  else print(terminal, count === 0 ? "There is no such dead letter." : `${done} ${count}`);
}

function openStore(terminal: Terminal, options: QueueCommandOptions): DurableQueue {
  const { name, queue: store = readVariable(terminal, "PUSH_QUEUE") } = options;
  const log = (_level: string, _fields: object, message: string) => printNote(terminal, message);
  const settings = { name, logger: createLogger(log) };
  // It stores nothing, so the store need not be durable.
  const durability = "trust" as const;
  if (/^rediss?:\/\//i.test(store)) {
    const tls = options.ca === undefined ? undefined : { ca: readAuthority(options.ca) };
    const connection = tls === undefined ? store : { url: store, tls };
    return redisQueue({ ...settings, connection, durability });
  }
  if (/^postgres(ql)?:\/\//i.test(store)) {
    const connection = options.ca === undefined ? store : addPostgresAuthority(store, options.ca);
    return postgresQueue({ ...settings, connection, durability, create: false });
  }
  if (options.ca !== undefined) throw new UsageError("--ca is for redis:// and postgres:// only.");
  if (store !== "" && !isMissing(store)) return sqliteQueue({ ...settings, file: store });
  throw new UsageError(
    "--queue, or PUSH_QUEUE, must be a URL with redis:// or postgres://, or a file that exists.",
  );
}

/** Returns whether there is no such file; false where this process may not see it. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Opening the file says why.
    return false;
  }
}

/** Adds to the text of a URL: the queue says what is wrong with one. */
function addPostgresAuthority(store: string, file: string): string {
  readAuthority(file);
  const mode = /[?&]sslmode=/.test(store) ? "" : "sslmode=verify-full&";
  const start = store.includes("?") ? "&" : "?";
  return `${store}${start}${mode}sslrootcert=${encodeURIComponent(file)}`;
}

function readAuthority(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (error) {
    throw new UsageError(`--ca ${file} cannot be read.`, { cause: error });
  }
  if (/^-----BEGIN /m.test(text)) return text;
  throw new UsageError(
    `--ca ${file} is no PEM file. Save it as text in UTF-8, without a byte order mark.`,
  );
}

/** Rejects a misspelt name in a store that creates a queue with its first event. */
async function assertNamed(queue: DurableQueue, name: string): Promise<void> {
  const names = (await queue.names?.()) ?? [name];
  if (names.includes(name) || (await queue.stats()).workers > 0) return;
  const known = names.toSorted().join(", ") || "none";
  throw new Error(`No event was ever stored in a queue named ${name}. Queues here: ${known}.`);
}

async function waitUntilReady(queue: DurableQueue, { signal }: Terminal): Promise<void> {
  const interrupted = once(signal, "abort").then(() => Promise.reject(new Interruption()));
  const ready = Promise.race([queue.ready(), interrupted]);
  await within(ready, READY_WITHIN_MS, "The queue was not ready");
}
