import { parseEnv } from "node:util";
import { isNativeError } from "node:util/types";
import { Command, CommanderError } from "commander";
import { describeError } from "../kit/thrown-value";
import { addEmulatorCommand } from "./emulator-command";
import { addExplainCommand } from "./explain-command";
import { addQueueCommand } from "./queue-command";
import { addRecordCommands } from "./record-command";
import { addRehearseCommand } from "./rehearse-command";
import { addKeysCommand, addWebhooksCommand } from "./service-commands";
import { Interruption } from "./environment";
import { printNote, type Terminal } from "./terminal";
import { readTextFile } from "./text-file";
import { addTriggerCommand } from "./trigger-command";
import { addWhyCommand } from "./why-command";
import { UsageError } from "./arguments";

const { version } = require("../../package.json") as { version: string };

/** The help text of the program says when it ends with each. */
const EXIT_CODES = { done: 0, failed: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/** Runs `push-webhooks` and returns its exit code; describes a failure on stderr, in one line. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command("push-webhooks")
    .description(
      "Emulate, send, record and explain push-verification webhooks; manage Webhooks, Keys and queues.",
    )
    .option("--env <file>", "file of variables, as for node --env-file; before the subcommand")
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done; 1 failed, a request was rejected, or a problem was found; 2 wrong usage; 130 interrupted; 143 terminated.\nSecrets are read from the environment (PUSH_AUTH_TOKEN, PUSH_KEY_SECRET, PUSH_ADMIN_HEADER) or from a prompt.",
    );
  try {
    // The subcommands take the defaults of their options from it.
    await readVariables(program, args, terminal);
  } catch (error) {
    return reportFailure(error, terminal);
  }
  program.version(version);
  addEmulatorCommand(program, terminal);
  addTriggerCommand(program, terminal);
  addExplainCommand(program, terminal);
  addRecordCommands(program, terminal);
  addRehearseCommand(program, terminal);
  addWebhooksCommand(program, terminal);
  addKeysCommand(program, terminal);
  addQueueCommand(program, terminal);
  addWhyCommand(program, terminal);

  try {
    await program.parseAsync(args, { from: "user" });
    if (terminal.signal.aborted) return codeOfAbort(terminal);
    return terminal.hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  } catch (error) {
    return reportFailure(error, terminal);
  }
}

/** Adds the variables of the file of `--env` to the environment, which has precedence. */
async function readVariables(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<void> {
  program.parseOptions([...args]);
  const { env: file } = program.opts<{ env?: string }>();
  if (file === undefined) return;
  const text = await readTextFile(terminal, "--env", file);
  terminal.env = { ...parseEnv(text.toString()), ...terminal.env };
}

function reportFailure(error: unknown, terminal: Terminal): number {
  if (terminal.signal.aborted || error instanceof Interruption) return codeOfAbort(terminal);
  if (error instanceof CommanderError) {
    // commander has printed the help, or the mistake in the usage.
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  }
  printNote(terminal, `push-webhooks: ${describeFailure(error)}${pointToCode(error)}`);
  const isUsage = error instanceof UsageError || error instanceof TypeError;
  return isUsage ? EXIT_CODES.usage : EXIT_CODES.failed;
}

/** The errors of this package that have a code. */
const CODED = new Set(["WebhookError", "ApiError", "InputError", "QueueError", "EmulatorError"]);

/** Returns the command that explains the code of an error of this package, or an empty text. */
function pointToCode(error: unknown): string {
  const { name, code } = Object(error) as { name: string; code: string };
  return CODED.has(name) ? ` More: push-webhooks why ${code}` : "";
}

/** Returns the code that shells have for Ctrl-C, or for a process that another one ended. */
function codeOfAbort({ signal }: Terminal): number {
  const isTerminated = signal.reason === "SIGTERM" || signal.reason === "SIGHUP";
  return isTerminated ? EXIT_CODES.terminated : EXIT_CODES.interrupted;
}

/**
 * Describes an error in one text: its message, and the reason of its innermost cause unless the
 * message has it, such as `fetch failed: connect ECONNREFUSED 127.0.0.1:80.`
 */
function describeFailure(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  let innermost: Error = error;
  // Bounded: the causes of an error of another package may form a circle.
  for (let depth = 0; depth < 10 && isNativeError(innermost.cause); depth++) {
    innermost = innermost.cause;
  }
  const [message, reason] = [readMessage(error), readMessage(innermost)];
  if (message.includes(reason)) return message;
  // The message of an ApiError ends with the code of the reason.
  const { code } = innermost as NodeJS.ErrnoException;
  const subject = message.replace(/\.$/, "").replace(`: ${code}`, "");
  return `${subject}: ${reason.replace(/\.$/, "")}.`;
}

function readMessage(error: Error): string {
  return describeError(error) || ((error as NodeJS.ErrnoException).code ?? error.name);
}
