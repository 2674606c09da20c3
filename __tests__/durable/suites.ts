/** Suites that run on each engine, with a store of their own. */
import type { StoppableEngine } from "../support/engine";
import { describeClosing } from "./closing";
import { describeConfirmation } from "./confirmation";
import { describeForeignRows } from "./foreign-rows";
import { describeProcessExit } from "./process-exit";
import { describeReceiverOutages } from "./receiver-outages";

export const SUITES: readonly (readonly [
  title: string,
  suite: (engine: StoppableEngine) => void,
])[] = [
  ["closing", describeClosing],
  ["events that need a confirmation", describeConfirmation],
  ["rows that another program changed", describeForeignRows],
  ["a process that closes its queue", describeProcessExit],
  ["a receiver during an outage", describeReceiverOutages],
];
