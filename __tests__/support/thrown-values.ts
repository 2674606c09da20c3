class FormError extends AggregateError {
  override errors = { field: "wrong" } as never;
}

const withMessage = (descriptor: PropertyDescriptor) =>
  Object.defineProperty(new Error("x"), "message", descriptor);

function createRevokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
  revoke();
  return proxy;
}

const symbolError = withMessage({ value: Symbol("s") });
const getterError = withMessage({
  get() {
    throw new Error("no");
  },
});
export const REVOKED_PROXY = createRevokedProxy();

/** Values whose members cannot be read as those of an Error, and the messages that can be. */
export const HOSTILE_VALUES: [what: string, thrown: unknown, message: string | undefined][] = [
  ["an AggregateError whose errors are no array", new FormError([], "several"), "several"],
  ["a message that is a Symbol", symbolError, "Symbol(s)"],
  ["a message that throws", getterError, undefined],
  ["a revoked Proxy", REVOKED_PROXY, undefined],
  [
    "an AggregateError of them",
    new AggregateError([symbolError, getterError, REVOKED_PROXY]),
    "Symbol(s)",
  ],
];
