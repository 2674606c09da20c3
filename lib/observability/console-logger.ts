import { Console } from "node:console";
import type { Logger } from "./logger";

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
