import { brand } from "../brand";

/** Every refusal of the service by name: its code and its HTTP status. */
export const REFUSALS = {
  BAD_REQUEST: { code: 20001, status: 400 },
  KEY_NAME_INVALID: { code: 20002, status: 400 },
  NOT_AUTHENTICATED: { code: 20003, status: 401 },
  METHOD_NOT_ALLOWED: { code: 20004, status: 405 },
  PAGE_SIZE_INVALID: { code: 20007, status: 400 },
  NOT_FOUND: { code: 20404, status: 404 },
  ILLEGAL_TRANSITION: { code: 20409, status: 409 },
  BODY_TOO_LARGE: { code: 20413, status: 413 },
  INTERNAL: { code: 20500, status: 500 },
  PAGE_TOKEN_INVALID: { code: 21481, status: 400 },
  PARAMETER_INVALID: { code: 60200, status: 400 },
  WEBHOOK_REQUEST_INVALID: { code: 60306, status: 400 },
  TOO_MANY_KEYS: { code: 70151, status: 400 },
} as const;

/** The code of an {@link EmulatorError}: a key of {@link REFUSALS}. */
export type EmulatorErrorCode = keyof typeof REFUSALS;

/**
 * A request or method that the emulated service rejected; over HTTP it is the body of the response.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class EmulatorError extends Error {
  declare readonly name: "EmulatorError";
  /** What went wrong; `switch` over it. */
  readonly code: EmulatorErrorCode;
  /** The service's number for it, such as 20404; over HTTP, the `code` of the body. */
  readonly serviceCode: number;
  /** The HTTP status that belongs to it. */
  readonly status: number;
  /** Headers that the response must carry. */
  readonly headers: Readonly<Record<string, string>>;

  static {
    brand(this, "EmulatorError");
  }

  constructor(code: EmulatorErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.serviceCode = REFUSALS[code].code;
    this.status = REFUSALS[code].status;
    this.headers = headers;
  }

  /** Returns what `JSON.stringify` writes. */
  toJSON(): Pick<EmulatorError, "name" | "code" | "serviceCode" | "status" | "message"> {
    const { name, code, serviceCode, status, message } = this;
    return { name, code, serviceCode, status, message };
  }
}

/** Makes the JSON body of the response to a rejected request. */
export function toErrorBody({ serviceCode, status, message }: EmulatorError): object {
  const more_info = `https://docs.example.test/errors/${serviceCode}`;
  return { code: serviceCode, message, more_info, status };
}

/** The refusal of a path that leads to nothing; the message repeats the path. */
export function notFound(path: string): EmulatorError {
  return new EmulatorError("NOT_FOUND", `The requested resource ${path} was not found`);
}
