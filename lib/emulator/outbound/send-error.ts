import { brand } from "../../errors/brand";

/**
 * Failure of a webhook request that received no complete response. `instanceof` also recognises the
 * errors of another installed copy of this package.
 *
 * @experimental
 */
export class SendError extends Error {
  declare readonly name: "SendError";
  /**
   * The kind of failure: `CONNECT_TIMEOUT`, `TIMEOUT`, `ABORTED` (by the signal), `DROPPED` (by the
   * fault `"drop-connection"`), or a code of Node.js such as `ECONNREFUSED`.
   */
  readonly code: string;
  /** Whether the connection failed before a response began: the service then sends again. */
  readonly isConnectionFailure: boolean;

  static {
    brand(this, "SendError");
  }

  constructor(
    code: string,
    message: string,
    isConnectionFailure: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.isConnectionFailure = isConnectionFailure;
  }
}
