import { runSafely } from "../listener";
import type { Logger } from "../reports";

/**
 * Wraps a logger of the app so that it never throws: the queue logs from listeners of connections,
 * where an error would end the process.
 */
export function createSafeLogger(logger: Logger): Logger {
  const createMethod = (level: keyof Logger) => (fields: object, message: string) =>
    void runSafely(() => logger[level](fields, message));
  return {
    debug: createMethod("debug"),
    info: createMethod("info"),
    warn: createMethod("warn"),
    error: createMethod("error"),
  };
}
