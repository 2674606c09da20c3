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
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
