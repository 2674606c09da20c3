import { adaptConsole, createLogger } from "../observability/logger";
import { callSafely } from "../observability/safe-call";
import type { Logger } from "../observability/logger";

/**
 * Wraps a logger of the app so that it never throws: the queue logs from listeners of connections,
 * where an error would end the process.
 */
export function createSafeLogger(logger: Logger): Logger {
  const adapted = adaptConsole(logger);
  return createLogger(
    (level, fields, message) => void callSafely(logger, () => adapted[level](fields, message)),
  );
}
