import { Command, CommanderError } from "commander";
import { addAdminCommands } from "./admin-commands";
import { addEmulatorCommand } from "./emulator-command";
import { addExplainCommand } from "./explain-command";
import { Interruption, UsageError, withoutControls, type Terminal } from "./terminal";
import { addTriggerCommand } from "./trigger-command";

const { version } = require("../../package.json") as { version: string };

/** How the program ends. */
export const EXIT_CODES = {
  /** It did what was asked. */
  done: 0,
  /** It could not, or found something: a call was refused, a Webhook differs. */
  failed: 1,
  /** It was asked for something that there is not. */
  usage: 2,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/**
 * Runs `push-webhooks` with its arguments.
 *
 * @returns the exit code; failures are said on stderr, in a line.
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command("push-webhooks")
    .version(version)
    .description("Receive, send and explain push-verification webhooks.")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 failed or something found, 2 wrong usage, 130 interrupted.\nSecrets come from the environment (PUSH_AUTH_TOKEN, PUSH_KEY_SECRET) or a prompt.",
    );
  addEmulatorCommand(program, terminal);
  addTriggerCommand(program, terminal);
  addExplainCommand(program, terminal);
  addAdminCommands(program, terminal);

  try {
    await program.parseAsync(args, { from: "user" });
    if (terminal.signal.aborted) return EXIT_CODES.interrupted;
    return terminal.hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  } catch (error) {
    return describeFailure(error, terminal);
  }
}

/** The code of the innermost cause, such as ECONNREFUSED. */
function findCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  const { code } = cause as { code?: unknown };
  return findCode(cause.cause) ?? (typeof code === "string" ? code : undefined);
}

function describeFailure(error: unknown, terminal: Terminal): number {
  if (terminal.signal.aborted || error instanceof Interruption) return EXIT_CODES.interrupted;
  if (error instanceof CommanderError) {
    // Help that was asked for, and usage that commander has explained itself.
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  }
  const { message, code } = error as { message: string; code?: string | number };
  // A refused connection to two addresses of one name has a code and no message.
  const { cause } = error as { cause?: unknown };
  const why = findCode(cause);
  const what = (message === "" ? String(code) : message) + (why === undefined ? "" : ` (${why})`);
  terminal.stderr.write(`push-webhooks: ${withoutControls(what)}\n`);
  return error instanceof UsageError || error instanceof TypeError
    ? EXIT_CODES.usage
    : EXIT_CODES.failed;
}
