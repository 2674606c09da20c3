import { brand } from "../kit/brand";

/** Errors of the service by name: the service's number and the HTTP status of each. */
export const ERRORS = {
  BAD_REQUEST: { serviceCode: 20001, status: 400 },
  KEY_NAME_INVALID: { serviceCode: 20002, status: 400 },
  NOT_AUTHENTICATED: { serviceCode: 20003, status: 401 },
  CROSS_SITE: { serviceCode: 20003, status: 403 },
  METHOD_NOT_ALLOWED: { serviceCode: 20004, status: 405 },
  PAGE_SIZE_INVALID: { serviceCode: 20007, status: 400 },
  NOT_FOUND: { serviceCode: 20404, status: 404 },
  ALREADY_EXISTS: { serviceCode: 20409, status: 409 },
  ILLEGAL_TRANSITION: { serviceCode: 20409, status: 409 },
  BODY_TOO_LARGE: { serviceCode: 20413, status: 413 },
  INTERNAL: { serviceCode: 20500, status: 500 },
  NOT_EMULATED: { serviceCode: 20501, status: 501 },
  PAGE_TOKEN_INVALID: { serviceCode: 21481, status: 400 },
  PARAMETER_INVALID: { serviceCode: 60200, status: 400 },
  REQUEST_INVALID: { serviceCode: 60306, status: 400 },
  FACTOR_VERIFICATION_FAILED: { serviceCode: 60311, status: 403 },
  FACTOR_UNVERIFIED: { serviceCode: 60318, status: 403 },
  CHALLENGE_EXPIRED: { serviceCode: 60323, status: 403 },
  CHALLENGE_VERIFICATION_FAILED: { serviceCode: 60324, status: 403 },
  TOO_MANY_KEYS: { serviceCode: 70151, status: 400 },
} as const;

/** The code of an {@link EmulatorError}. */
export type EmulatorErrorCode = keyof typeof ERRORS;

/**
 * Rejection of a request or a method call by the emulated service; over HTTP, the body of the
 * response (specification, section 7). `instanceof` also recognises the errors of another installed
 * copy of this package.
 */
export class EmulatorError extends Error {
  declare readonly name: "EmulatorError";
  /** The kind of error; `switch` over it. */
  readonly code: EmulatorErrorCode;
  /** The service's number of the error, such as 20404; over HTTP, the `code` of the body. */
  readonly serviceCode: number;
  /** The HTTP status of the response. */
  readonly status: number;
  /** Headers that the response carries. */
  readonly headers: Readonly<Record<string, string>>;

  static {
    brand(this, "EmulatorError");
  }

  constructor(code: EmulatorErrorCode, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.serviceCode = ERRORS[code].serviceCode;
    this.status = ERRORS[code].status;
    this.headers = headers;
  }

  /** Returns the fields that `JSON.stringify` writes. */
  toJSON(): Pick<EmulatorError, "name" | "code" | "serviceCode" | "status" | "message"> {
    const { name, code, serviceCode, status, message } = this;
    return { name, code, serviceCode, status, message };
  }
}

/** Returns the resource of a path. @throws EmulatorError 20404 when it does not exist. */
export function existing<Resource>(resource: Resource | undefined, path: string): Resource {
  if (resource !== undefined) return resource;
  // The messages of the verification API omit the version.
  const shownPath = path.replace(/^\/v2(?=\/)/, "");
  throw new EmulatorError("NOT_FOUND", `The requested resource ${shownPath} was not found`);
}
