import type { Request } from "express";
import { adaptConsole } from "../../kit/logger";
import { callSafely } from "../../kit/safe-call";
import type { AdminRouterOptions } from "./options";

/** See {@link createOptionCalls}. */
export type OptionCalls = ReturnType<typeof createOptionCalls>;

/** Creates what calls the functions of the app that are options of the router, and logs their errors. */
export function createOptionCalls(options: AdminRouterOptions) {
  const logger = options.logger && adaptConsole(options.logger);

  function log(fields: object, message: string): void {
    if (logger !== undefined) callSafely(logger, () => logger.error(fields, message));
  }

  /** Calls an option; logs its error and returns undefined. */
  async function call<Result>(name: string, run: () => Result, fields = {}) {
    try {
      return await run();
    } catch (error) {
      log({ err: error, ...fields }, `${name} failed`);
      return undefined;
    }
  }

  return {
    log,
    call,
    readActor: async (req: Request): Promise<string | undefined> =>
      call("actor", () =>
        options.actor === undefined ? req.socket.remoteAddress : options.actor(req),
      ),
  };
}
