/** How the uuid of an event begins that a tool invented. */
export const INVENTED_PREFIXES = { console: "console-test-", trigger: "trigger-" } as const;

/** Returns whether a tool of this package invented an event, by its uuid. */
export function isInvented(uuid: string): boolean {
  return Object.values(INVENTED_PREFIXES).some((prefix) => uuid.startsWith(prefix));
}
