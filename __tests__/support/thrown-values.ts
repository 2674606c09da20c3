class FormError extends AggregateError {
  override errors = { field: "wrong" } as never;
}

const withMessage = (descriptor: PropertyDescriptor) =>
  Object.defineProperty(new Error("x"), "message", descriptor);

const symbolError = withMessage({ value: Symbol("s") });
const getterError = withMessage({
  get() {
    throw new Error("no");
  },
});

/** Values whose members cannot be read as those of an Error, and the messages that can be. */
export const HOSTILE_VALUES: [what: string, thrown: unknown, message: string | undefined][] = [
  ["an AggregateError whose errors are no array", new FormError([], "several"), "several"],
  ["a message that is a Symbol", symbolError, "Symbol(s)"],
  ["a message that throws", getterError, undefined],
  ["an AggregateError of them", new AggregateError([symbolError, getterError]), "Symbol(s)"],
];
