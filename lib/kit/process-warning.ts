/** The codes that were emitted for each owner. */
const emitted = new WeakMap<object, Set<string>>();

/** Emits a process warning of this package; its text ends with the command that explains the code. */
export function emitWarning(code: string, message: string, detail?: string): void {
  process.emitWarning(`${message} More: npx push-webhooks why ${code}`, {
    type: "PushWebhooksWarning",
    code,
    ...(detail !== undefined && { detail }),
  });
}

/**
 * Emits a process warning, the first of its code for an owner only.
 *
 * @param owner what it is about, such as a receiver or a store.
 */
export function warnOnce(
  code: string,
  message: string,
  owner: object = process,
  describeDetail?: () => string | undefined,
): void {
  const codes = emitted.get(owner) ?? new Set();
  if (codes.has(code)) return;
  emitted.set(owner, codes.add(code));
  emitWarning(code, message, describeDetail?.());
}
