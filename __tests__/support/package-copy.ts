import type * as Package from "express-push-verification";

/** Loads the package again, as a second installed copy does. */
export function loadCopy(): typeof Package {
  let copy!: typeof Package;
  jest.isolateModules(() => (copy = jest.requireActual("express-push-verification")));
  return copy;
}
