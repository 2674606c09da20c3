/**
 * Brands a class of errors: `instanceof` also recognises the errors of another copy of this package.
 *
 * Sets `name` on the prototype, as Error has it, and the brand under
 * `Symbol.for("express-push-verification.<name>")`. Subclasses keep the ordinary `instanceof`.
 */
export function brand(errorClass: ErrorClass, name: string): void {
  const symbol = Symbol.for(`express-push-verification.${name}`);
  const hidden = { configurable: true, writable: true };
  Object.defineProperty(errorClass.prototype, "name", { ...hidden, value: name });
  Object.defineProperty(errorClass.prototype, symbol, { value: true });
  Object.defineProperty(errorClass, Symbol.hasInstance, {
    ...hidden,
    value(this: ErrorClass, value: unknown): boolean {
      // A subclass inherits this method, but the brand identifies its base class only.
      if (this !== errorClass) return Function.prototype[Symbol.hasInstance].call(this, value);
      if (typeof value !== "object" || value === null) return false;
      return (value as Record<symbol, unknown>)[symbol] === true;
    },
  });
}

type ErrorClass = abstract new (...args: never) => Error;
