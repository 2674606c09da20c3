import { Command, CommanderError } from "commander";
import { addEmulatorCommand } from "./emulator-command";
import { addExplainCommand } from "./explain-command";
import { describeFailure } from "./failure";
import { addKeysCommand } from "./keys-command";
import { Interruption } from "./secret";
import { withoutControls, type Terminal } from "./terminal";
import { addTriggerCommand } from "./trigger-command";
import { UsageError } from "./usage-error";
import { addWebhooksCommand } from "./webhooks-command";

const { version } = require("../../package.json") as { version: string };

const EXIT_CODES = {
  /** The command succeeded. */
  done: 0,
  /** The command failed, a request was rejected, or a problem was found. */
  failed: 1,
  /** The arguments or the environment are wrong. */
  usage: 2,
  /** The program received SIGINT or SIGTERM. */
  interrupted: 130,
} as const;

/**
 * Runs `push-webhooks` with its arguments.
 *
 * @returns the exit code; a failure is described on stderr, in one line.
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = new Command("push-webhooks")
    .version(version)
    .description("Emulate, send and explain push-verification webhooks; manage Webhooks and Keys.")
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .addHelpText(
      "after",
      "\nExit codes: 0 done; 1 failed, a request was rejected, or a problem was found; 2 wrong usage; 130 interrupted.\nSecrets are read from the environment (PUSH_AUTH_TOKEN, PUSH_KEY_SECRET) or from a prompt.",
    );
  addEmulatorCommand(program, terminal);
  addTriggerCommand(program, terminal);
  addExplainCommand(program, terminal);
  addWebhooksCommand(program, terminal);
  addKeysCommand(program, terminal);

  try {
    await program.parseAsync(args, { from: "user" });
    if (terminal.signal.aborted) return EXIT_CODES.interrupted;
    return terminal.hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  } catch (error) {
    return reportFailure(error, terminal);
  }
}

function reportFailure(error: unknown, terminal: Terminal): number {
  if (terminal.signal.aborted || error instanceof Interruption) return EXIT_CODES.interrupted;
  if (error instanceof CommanderError) {
    // commander has printed the help that was asked for, or the wrong usage.
    return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  }
  terminal.stderr.write(`push-webhooks: ${withoutControls(describeFailure(error))}\n`);
  return error instanceof UsageError || error instanceof TypeError
    ? EXIT_CODES.usage
    : EXIT_CODES.failed;
}
