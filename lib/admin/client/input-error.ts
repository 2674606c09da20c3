import { brand } from "../../kit/brand";

/** A member of an argument that is not valid. */
export interface InputIssue {
  /** The names that lead to the member, joined by dots. */
  readonly path: string;
  /** The problem; does not show the value. */
  readonly message: string;
}

/**
 * Invalid argument: the service would reject it, so no request was sent. `instanceof` also
 * recognises the errors of another installed copy of this package.
 */
export class InputError extends TypeError {
  declare readonly name: "InputError";
  readonly code = "INVALID_INPUT" as const;
  readonly issues: readonly InputIssue[];

  static {
    brand(this, "InputError");
  }

  /** @param what name of the argument in the message. */
  constructor(what: string, issues: readonly InputIssue[]) {
    const problems = issues.map(({ path, message }) =>
      path === what ? message : `${path}: ${message}`,
    );
    super(`${what}: ${problems.join("; ")}`);
    this.issues = issues;
  }

  /** Returns the fields that `JSON.stringify` writes. */
  toJSON(): Pick<InputError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
