import { isPromise } from "node:util/types";

/** Returns whether a value has a `then`, like a promise and the queries of some libraries. */
export function isPending<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value;
}

/** Calls `run` with a value: now, or when the promise of the value resolves. */
export function andThen<Value, Next>(
  value: Value | Promise<Value>,
  run: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next> {
  return isPromise(value) ? value.then(run) : run(value);
}
