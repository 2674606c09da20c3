import { brand } from "../brand";

/** One member of an argument that the service would reject. */
export interface InputIssue {
  /** Names of the members that lead to it, joined by dots. */
  readonly path: string;
  /** What is wrong; never the value. */
  readonly message: string;
}

/**
 * An argument that the service would reject; nothing was sent.
 *
 * `instanceof` also recognises the errors of another installed copy of this package.
 */
export class InputError extends TypeError {
  declare readonly name: "InputError";
  readonly code = "INVALID_INPUT" as const;
  readonly issues: readonly InputIssue[];

  static {
    brand(this, "InputError");
  }

  /** @param what names the argument in the message. */
  constructor(what: string, issues: readonly InputIssue[]) {
    const problems = issues.map(({ path, message }) =>
      path === what ? message : `${path}: ${message}`,
    );
    super(`${what}: ${[...new Set(problems)].join("; ")}`);
    this.issues = issues;
  }

  /** Returns what `JSON.stringify` writes. */
  toJSON(): Pick<InputError, "name" | "code" | "message"> {
    const { name, code, message } = this;
    return { name, code, message };
  }
}
