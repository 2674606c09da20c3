/** What some options of a connection must be, by their names. */
type ConnectionRules = Readonly<
  Record<string, readonly [accepts: (value: unknown) => boolean, expected: string]>
>;

/** Finds the first option of a connection that cannot be right; shows no value. */
export function findOptionProblem(options: object, rules: ConnectionRules): string | undefined {
  for (const [name, [accepts, expected]] of Object.entries(rules)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined || value === null || accepts(value)) continue;
    return `Its option ${name} must be ${expected}.`;
  }
  return undefined;
}

/** Returns whether a value is a whole number from 0, also as a text. */
export function isCount(value: unknown): boolean {
  if (typeof value === "string") return /^\d{1,15}$/.test(value);
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns whether a value is the number of a port, also as a text. */
export function isPort(value: unknown): boolean {
  return isCount(value) && Number(value) >= 1 && Number(value) <= 65_535;
}

function isHost(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const isIpv6 = /^[\da-f]*:[\da-f.]*:[\da-f:.]*(?:%\w+)?$/i.test(value);
  // A socket of Postgres is a folder.
  return isIpv6 || /^[\p{L}\p{M}\p{N}._~-]+$|^\/[^\s\0]*$/u.test(value);
}

/** The rule of an option that is a host, a port, or a text. */
export const HOST = [
  isHost,
  "a host alone: port, user and password have options of their own",
] as const;
export const PORT = [isPort, "a number from 1 to 65535"] as const;
export const TEXT = [(value: unknown) => typeof value === "string", "a text"] as const;
