import type * as Package from "express-push-verification";

export function loadCopy(): typeof Package {
  let copy!: typeof Package;
  jest.isolateModules(() => (copy = jest.requireActual("express-push-verification")));
  return copy;
}
