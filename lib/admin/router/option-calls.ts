import type { Request } from "express";
import { adaptConsole, type Logger } from "../../kit/logger";
import { callSafely } from "../../kit/safe-call";
import type { AdminRouterOptions } from "./options";

/** Calls functions of the app that are options of the router, and logs their errors. */
export class OptionCalls {
  readonly #logger: Logger | undefined;
  readonly #options: AdminRouterOptions;

  constructor(options: AdminRouterOptions) {
    this.#logger = options.logger && adaptConsole(options.logger);
    this.#options = options;
  }

  log(fields: object, message: string): void {
    const logger = this.#logger;
    if (logger !== undefined) callSafely(logger, () => logger.error(fields, message));
  }

  logFailedResponse(error: unknown): void {
    this.log({ err: error }, "A response failed: a middleware has replaced a method of it");
  }

  async readActor(req: Request): Promise<string | undefined> {
    const options = this.#options;
    return this.call("actor", () =>
      options.actor === undefined ? req.socket.remoteAddress : options.actor(req),
    );
  }

  /** Calls an option; logs its error and returns undefined. */
  async call<Result>(name: string, call: () => Result, fields = {}) {
    try {
      return await call();
    } catch (error) {
      this.log({ err: error, ...fields }, `${name} failed`);
      return undefined;
    }
  }
}
