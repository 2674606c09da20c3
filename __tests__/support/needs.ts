/**
 * Returns `describe` and `it` for tests that need something beside Node.js and the packages. Without
 * it, each is one skipped test whose title says what to install; the run ends with these.
 */
export function needs(isThere: boolean, what: string) {
  // Benches start the same servers, and have no Jest.
  const { describe, it } = globalThis;
  if (isThere) return { describe, it };
  const skip = (title: string) => it.skip(`${title} [needs ${what}]`, () => {});
  return { describe: skip, it: skip };
}
