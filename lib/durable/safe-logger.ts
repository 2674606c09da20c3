import { adaptConsole } from "../observability/console-logger";
import { callSafely } from "../observability/safe-call";
import type { Logger } from "../observability/logger";

/**
 * Wraps a logger of the app so that it never throws: the queue logs from listeners of connections,
 * where an error would end the process.
 */
export function createSafeLogger(logger: Logger): Logger {
  const adapted = adaptConsole(logger);
  const createMethod = (level: keyof Logger) => (fields: object, message: string) =>
    void callSafely(() => adapted[level](fields, message));
  return {
    debug: createMethod("debug"),
    info: createMethod("info"),
    warn: createMethod("warn"),
    error: createMethod("error"),
  };
}
