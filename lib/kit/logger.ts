import { Console } from "node:console";

/**
 * Where a receiver logs to, in the shape of pino: `pino()` as it is. A console is recognised and
 * receives the message first. A failure is in `fields.err`, which holds neither a secret nor the
 * parameters of an event, except in the error of a handler, which is its `cause`.
 *
 * @example
 * // winston, which takes the message first
 * const at = (level) => (fields, message) => void winston.log(level, message, fields);
 * const logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
 */
export interface Logger {
  /** Logs the result of a delivery: the event was accepted, or dropped as a duplicate. */
  debug(fields: object, message: string): void;
  /** Logs the end of an outage, such as a store that is reachable again. */
  info(fields: object, message: string): void;
  /** Logs a rejected request, a conflict, an event without a handler, or the start of an outage. */
  warn(fields: object, message: string): void;
  /** Logs a dead letter, or a failure of handlers, of a store, of a token lookup or of the package. */
  error(fields: object, message: string): void;
}

/** Returns a logger that passes a console the message first; returns any other logger as it is. */
export function adaptConsole(logger: Logger): Logger {
  if (!(logger instanceof Console)) return logger;
  return createLogger((level, fields, message) => logger[level](message, fields));
}

/** Creates a logger whose methods call one function. */
export function createLogger(
  log: (level: keyof Logger, fields: object, message: string) => void,
): Logger {
  const createMethod = (level: keyof Logger) => (fields: object, message: string) =>
    log(level, fields, message);
  return {
    debug: createMethod("debug"),
    info: createMethod("info"),
    warn: createMethod("warn"),
    error: createMethod("error"),
  };
}
