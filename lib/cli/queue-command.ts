import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import type { Command } from "commander";
import { postgresQueue, redisQueue, sqliteQueue, type DurableQueue } from "../durable";
import { createLogger } from "../kit/logger";
import { within } from "../kit/retry";
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

/** Adds `queue stats|dead-letters|retry|discard|count-user|erase-user`. */
export function addQueueCommand(program: Command, terminal: Terminal): void {
  const queues = program.command("queue").description("look at a queue and at its dead letters");
  const count = queues.command("stats").description("count the events of the queue");
  const list = queues
    .command("dead-letters")
    .description("list the events that exhausted their attempts");
  const retry = queues
    .command("retry")
    .description("run the handlers of a dead letter again")
    .argument("[uuid]", "uuid of the event")
    .option("--all", "retry every dead letter")
    .option("--account-sid <sid>", "account, if several have a dead letter of this uuid");
  const discard = queues
    .command("discard")
    .description("remove a dead letter; its uuid stays known")
    .argument("<uuid>", "uuid of the event")
    .option("--account-sid <sid>", "account, if several have a dead letter of this uuid");
  const countUser = queues
    .command("count-user")
    .description("count what the queue holds of a user");
  const eraseUser = queues
    .command("erase-user")
    .description("erase what the queue holds of a user; uuids stay known");
  for (const command of [countUser, eraseUser]) {
    command
      .argument("<identity>", "entity_identity of the user")
      .requiredOption("--account-sid <sid>", "account of the user");
  }

  /** Adds a subcommand that runs with the queue; its argument is a uuid, an identity, or empty. */
  function add(
    command: Command,
    run: (queue: DurableQueue, options: QueueCommandOptions, argument: string) => Promise<void>,
  ): void {
    command
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

  add(count, async (queue, { json }) => {
    reportCounts(terminal, json, await queue.stats());
  });

  add(list, async (queue, { json }) => {
    const rows: Record<string, string | number | undefined>[] = [];
    for await (const deadLetter of queue.deadLetters()) {
      const { uuid, accountSid, receiver, event, attempts, failedAt, error } = deadLetter;
      // Without the event: its parameters identify a user.
      const type = event?.type;
      const at = failedAt.toISOString();
      rows.push({ uuid, accountSid, receiver, type, attempts, failedAt: at, error });
    }
    if (json === true) return printJson(terminal, rows);
    const cells = rows.map((row) => Object.values(row).map((cell) => cell ?? ""));
    const header = ["UUID", "ACCOUNT", "RECEIVER", "TYPE", "ATTEMPTS", "FAILED AT", "ERROR"];
    printTable(terminal, header, cells);
  });

  add(retry, async (queue, options, uuid) => {
    const { accountSid, all = false } = options;
    if ((uuid === "") !== all) {
      throw new UsageError("Pass either the uuid of a dead letter or --all.");
    }
    const retried = all ? await queue.retryAll() : Number(await queue.retry(uuid, { accountSid }));
    report(terminal, options, "retried", retried);
  });

  add(discard, async (queue, options, uuid) => {
    const { accountSid } = options;
    report(terminal, options, "discarded", Number(await queue.discard(uuid, { accountSid })));
  });

  add(countUser, async (queue, { accountSid = "", json }, entityIdentity) => {
    reportCounts(terminal, json, await queue.countUserData({ accountSid, entityIdentity }));
  });

  add(eraseUser, async (queue, { accountSid = "", json }, entityIdentity) => {
    reportCounts(terminal, json, await queue.eraseUserData({ accountSid, entityIdentity }));
  });
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
