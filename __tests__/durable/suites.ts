import type { EngineSuite } from "../support/engine";
import { describeClosing } from "./closing";
import { describeConfirmation } from "./confirmation";
import { describeContract } from "./contract";
import { describeForeignRows } from "./foreign-rows";
import { describeProcessExit } from "./process-exit";
import { describeReceiverOutages } from "./receiver-outages";

type Suites = readonly (readonly [title: string, suite: EngineSuite])[];

/** Suites that run on each engine, with a store of their own. */
export const SUITES: Suites = [
  ["contract", describeContract],
  ["closing", describeClosing],
  ["events that need a confirmation", describeConfirmation],
  ["a process that closes its queue", describeProcessExit],
  ["a receiver during an outage", describeReceiverOutages],
];

/** The suites of an engine whose tables are SQL. */
export const SQL_SUITES: Suites = [
  ...SUITES,
  ["rows that another program changed", describeForeignRows],
];
