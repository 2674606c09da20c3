import { inspectReceiver } from "../../receiver/inspection";
import type { PushWebhooks } from "../../receiver/receiver";
import {
  hasMethods,
  oneOf,
  validateOptions,
  type OptionRules,
} from "../../validation/validate-options";
import type { ConsoleQueue } from "./queue-view";

/** Settings of the console of `adminRouter`. */
export interface ConsoleOptions {
  /**
   * Shows identities in full, and the texts of devices and challenges. @default false: identities
   * are masked, and the texts are left out
   */
  reveal?: boolean | undefined;
}

/** The options of `adminRouter` that its console needs. */
export interface ConsoleRouterOptions {
  /**
   * Serves the console, a page for people, at the mount of the router. @default false: JSON alone
   */
  console?: boolean | ConsoleOptions | undefined;
  /** The receiver whose webhook requests the console shows. @default none */
  receiver?: PushWebhooks | undefined;
  /** The queue that the console shows. @default none */
  queue?: ConsoleQueue | undefined;
}

/** The rules of {@link ConsoleRouterOptions}. */
export const CONSOLE_RULES: OptionRules<ConsoleRouterOptions> = {
  console: {
    accepts: (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
    expected: "true, false or an object of options, such as { reveal: true }",
  },
  receiver: {
    accepts: (value) => typeof value === "function" && inspectReceiver(value) !== undefined,
    expected: "the result of pushWebhooks() of this installed copy of express-push-verification",
    secret: true,
  },
  queue: {
    accepts: (value) => hasMethods(value, ["stats", "deadLetters", "retry", "discard"]),
    expected: 'a queue of "express-push-verification/durable"',
    secret: true,
  },
};

/**
 * Returns the options of the console; undefined when there is none.
 *
 * @throws TypeError for an option that is unknown, or useless without the console.
 */
export function resolveConsoleOptions(options: ConsoleRouterOptions): ConsoleOptions | undefined {
  const { console: chosen = false } = options;
  if (chosen === false) {
    for (const name of ["receiver", "queue"] as const) {
      if (options[name] === undefined) continue;
      throw new TypeError(
        `adminRouter: option ${name} is for the console, which is not served; set console to true.`,
      );
    }
    return undefined;
  }
  const settings = chosen === true ? {} : chosen;
  validateOptions("adminRouter console", settings, { reveal: oneOf(true, false) });
  return settings;
}
