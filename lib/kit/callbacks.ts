import type { IncomingMessage, ServerResponse } from "node:http";
// Not the global ones: a test may fake the timers of its app, also before this is loaded.
import { setImmediate, setTimeout } from "node:timers";
import { readThrown } from "./thrown-value";

/** A stream, a request or a response, or what imitates one and may emit nothing. */
interface Emitter {
  on?(event: string, listener: (...args: never[]) => void): unknown;
}

/**
 * Registers the listeners and the timers of a request. They use methods that other middlewares have
 * replaced, and Node.js ends a process whose listener or timer throws: `onThrown` gets the error.
 */
export class Callbacks {
  constructor(readonly onThrown: (error: unknown) => void) {}

  on(emitter: Emitter, event: string, listener: (...args: never[]) => void): this {
    emitter.on?.(event, this.#guard(listener));
    return this;
  }

  /** Calls a function now, with one argument: no event here has more. */
  run(callback: (...args: never[]) => void, value?: never): void {
    try {
      callback(value as never);
    } catch (error) {
      this.onThrown(error);
    }
  }

  setTimeout(callback: () => void, delayMs: number): NodeJS.Timeout {
    return setTimeout(this.#guard(callback), delayMs);
  }

  setImmediate(callback: () => void): void {
    setImmediate(this.#guard(callback));
  }

  #guard(callback: (...args: never[]) => void): (value?: never) => void {
    return (value) => this.run(callback, value);
  }
}

/** Creates a listener of a server: an error of its promise is reported, and destroys the response. */
export function createListener(
  respond: (req: IncomingMessage, res: ServerResponse) => Promise<void>,
  report: (error: unknown) => void,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    respond(req, res).catch((error: unknown) => {
      destroyResponse(req, res);
      report(error);
    });
  };
}

/** Destroys a response that cannot be sent, and its connection when `res.destroy` was replaced. */
export function destroyResponse(req: IncomingMessage, res: ServerResponse): void {
  readThrown(() => res.destroy());
  readThrown(() => req.socket.destroy());
}
