import { escapeControls } from "./text";
import { listReasons, readThrown } from "./thrown-value";

const MAX_MESSAGE_CHARACTERS = 500;
const MAX_CODE_CHARACTERS = 100;
const MAX_FRAMES = 10;
const MAX_CAUSES = 3;
const MAX_ERRORS = 3;

/**
 * Copies an error of a store, a token lookup or Redis without its arguments: they may contain the
 * parameters of an event, for example `command.args` of ioredis or `detail` of pg.
 *
 * @returns an Error with the name, the code, up to 10 stack frames and the first line of the
 *   message (up to 500 characters), and with copies of up to two nested causes.
 */
export function createNeutralCause(thrown: unknown, maxCauses = MAX_CAUSES): Error {
  const given =
    typeof thrown === "string" ? { message: thrown } : (Object(thrown) as Record<string, unknown>);
  const { name, message, code, stack, cause } = readThrown(() => readMembers(given)) ?? {};
  if (typeof message !== "string") return createNeutralCause("The thrown value is not an Error.");
  const copy = new Error(firstLine(message));
  const ownName = typeof name === "string" ? shorten(name) : "Error";
  Object.defineProperty(copy, "name", { value: ownName, configurable: true, writable: true });
  // Not the frames of the copy, which lead into this file.
  copy.stack = [`${ownName}: ${copy.message}`, ...listFrames(stack, message)].join("\n");
  if (typeof code === "number") Object.assign(copy, { code });
  if (typeof code === "string") Object.assign(copy, { code: shorten(code) });
  if (cause !== undefined && maxCauses > 1) copy.cause = createNeutralCause(cause, maxCauses - 1);
  return copy;
}

function readMembers({ name, message, code, stack, cause }: Record<string, unknown>) {
  return { name, message, code, stack, cause };
}

/** Returns the first line: query libraries append the parameters of a query in further lines. */
function firstLine(message: string): string {
  const [line = ""] = message.trimStart().split("\n", 1);
  const shown = escapeControls(line.slice(0, MAX_MESSAGE_CHARACTERS));
  return line.length > MAX_MESSAGE_CHARACTERS ? `${shown}…` : shown;
}

function shorten(name: string): string {
  return escapeControls(name.slice(0, MAX_CODE_CHARACTERS));
}

/** Lists the frames after the message: a line of the message may look like a frame. */
function listFrames(stack: unknown, message: string): string[] {
  if (typeof stack !== "string") return [];
  const at = stack.indexOf(message);
  // The message is not in the first line if it was changed after the stack was captured.
  if (at === -1 || stack.slice(0, at).includes("\n")) return [];
  const lines = stack.slice(at + message.length).split("\n");
  const frames = lines.filter((line) => /^ {4}at .{1,300}$/.test(line)).slice(0, MAX_FRAMES);
  return frames.map(escapeControls);
}

/**
 * Describes the cause of an error for a process warning, with its own causes, or the first 3 errors of
 * an AggregateError, as {@link createNeutralCause} copies them; undefined without a cause.
 */
export function describeCause({ cause }: Error): string | undefined {
  if (cause === undefined) return undefined;
  const errors = listReasons(cause).slice(0, MAX_ERRORS);
  return errors.map((error) => describeChain(createNeutralCause(error))).join("\n");
}

function describeChain(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error
    ? `${stack}\nCaused by: ${describeChain(error.cause)}`
    : stack;
}
